# Shows the progress of long commands. Sourced by setup.sh and build.sh.

# ... | show_progress LABEL: on a terminal, shows the last line of the input in place, cut to the terminal's width, with the
# time since the script began. Prints nothing elsewhere.
show_progress() {
  local line columns
  if [ ! -t 1 ]; then
    cat >/dev/null
    return
  fi
  columns="$(stty size <&1 | cut -d ' ' -f 2)"
  while IFS= read -r line; do
    printf -v line '[%s] %d:%02d %s' "$1" $((SECONDS / 60)) $((SECONDS % 60)) "$line"
    printf '\r\033[K%s' "${line:0:${columns:-80}-1}"
  done
  printf '\r\033[K'
}
