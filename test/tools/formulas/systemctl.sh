#!/bin/sh
# Stands in for systemctl where no systemd runs: units are started in name only; what works on files alone is done by the real one.
verb= unit= quiet= value=
for word; do
  if [ "$value" ]; then value=; continue; fi
  case $word in
    -n | -p | --property | --root) value=1 ;;
    -q | --quiet) quiet=1 ;;
    -*) ;;
    *) if [ -z "$verb" ]; then verb=$word; else unit=$word; fi ;;
  esac
done
case $unit in *.*) ;; ?*) unit=$unit.service ;; esac
state=/run/units
mkdir -p "$state"

file_of() {
  for name in "$unit" "$(printf %s "$unit" | sed 's/@.*\./@./')"; do
    for folder in /etc/systemd/system /run/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
      if [ -e "$folder/$name" ]; then echo "$folder/$name"; return 0; fi
    done
  done
  script=/etc/init.d/${unit%.service}
  [ -x "$script" ] && echo "$script"
}

missing() {
  echo "Failed to $verb $unit: Unit $unit not found." >&2
  exit 5
}

case $verb in
  start | restart | reload-or-restart) file_of > /dev/null || missing; touch "$state/$unit" ;;
  reload) [ -e "$state/$unit" ] || { echo "Failed to reload $unit: Job type reload is not applicable for unit $unit." >&2; exit 1; } ;;
  stop) file_of > /dev/null || missing; rm -f "$state/$unit" ;;
  try-restart | reset-failed | daemon-reload | daemon-reexec) ;;
  is-active)
    if [ -e "$state/$unit" ]; then [ "$quiet" ] || echo active; else [ "$quiet" ] || echo inactive; exit 3; fi ;;
  status)
    file=$(file_of) || { echo "Unit $unit could not be found." >&2; exit 4; }
    echo "* $unit"
    echo "     Loaded: loaded ($file)"
    if [ -e "$state/$unit" ]; then echo '     Active: active (running)'; else echo '     Active: inactive (dead)'; exit 3; fi ;;
  *) SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl.real "$@" ;;
esac
