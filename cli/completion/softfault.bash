# SPDX-License-Identifier: MIT
# Completion of softfault for bash. What there is to complete the program itself says: its help and its lists.

_softfault_options() { # _softfault_options PROGRAM COMMAND: one a line, "--name" or "--name="
	"$1" "$2" --help 2>/dev/null | sed -nE 's/^ +(-[a-z], )?(--[a-z-]+)(=?).*/\2\3/p'
}

_softfault_names() { # _softfault_names PROGRAM WHAT...: the first column of a list
	"$1" list "${@:2}" 2>/dev/null | awk 'NR > 1 && !/^ / { print $1 }'
}

# The choices that the help gives for an option, "one|each".
_softfault_choices() { # _softfault_choices PROGRAM COMMAND OPTION
	"$1" "$2" --help 2>/dev/null | sed -nE "s/^ +$3=([a-z0-9]+(\|[a-z0-9]+)+).*/\1/p" | tr '|' '\n'
}

_softfault_experiment() { # the word of the line that is an experiment
	local word experiments
	experiments=$(_softfault_names "$1" experiments)
	for word in "${COMP_WORDS[@]:2}"; do
		if [[ -n $word ]] && grep -qxF -- "$word" <<<"$experiments"; then
			echo "$word"
			return
		fi
	done
}

_softfault() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} current=${COMP_WORDS[COMP_CWORD]} option='' before=''
	local words=''

	COMPREPLY=()
	if [[ $COMP_CWORD -le 1 ]]; then
		words="list run reproduce compare report calibrate explore --help --version"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi
	# "--name=value" comes as three words, "--name value" as two.
	if [[ $current == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		current=
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == -* ]]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		case $option in
		-o) ;;
		*) grep -qxF -- "$option=" <<<"$(_softfault_options "$program" "$command")" || option= ;;
		esac
	fi
	case $option in
	--json | --report | --output | -o)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	--engine) words="vsmp host linux host,linux" ;;
	--machine) words=$(_softfault_names "$program" machines) ;;
	--placement) words="fill spread compact" ;;
	--format) words="html collapsed perf csv svg" ;;
	--variant)
		words=$(_softfault_names "$program" variants "$(_softfault_experiment "$program")")
		# A list: what stands before its last comma stays.
		[[ $current == *,* ]] && before=${current%,*},
		;;
	'')
		case $current in
		-*) words=$(_softfault_options "$program" "$command") ;;
		*)
			case $command in
			run | reproduce) words=$(_softfault_names "$program" experiments) ;;
			calibrate) words=$(_softfault_names "$program" machines) ;;
			explore)
				words="$(_softfault_names "$program" checks) $(_softfault_names "$program" experiments)"
				;;
			list)
				words="experiments machines checks variants"
				[[ ${COMP_WORDS[2]} == variants && $COMP_CWORD -gt 2 ]] &&
					words=$(_softfault_names "$program" experiments)
				;;
			compare | report)
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
				return
				;;
			esac
			;;
		esac
		;;
	*) words=$(_softfault_choices "$program" "$command" "$option") ;;
	esac
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${current#"$before"}")
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -o filenames -F _softfault softfault
