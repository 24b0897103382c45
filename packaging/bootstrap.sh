#!/bin/sh
# Puts a Halite master or minion on this machine: from a package file, a folder, or a mirror. POSIX shell; needs root.
# What it fetches is checked against SHA256SUMS; SHA256SUMS against a signature or a sum that you give.
# Nothing is expanded to names of files: patterns of packages would be, in a folder that has some.
set -euf
# Whoever calls it: daemons that gave up root have to read what it makes.
umask 022

usage() {
	cat <<'TEXT'
Usage: bootstrap.sh [options] minion|master|commands ...

Installs what is named and starts it. "commands" is salt-call and the other programs, without services.

Where the packages come from (one of these):
  --from PATH          a package, an archive, or a folder with packages and SHA256SUMS
  --mirror URL         an address with the same files (https://, http:// or file://)
How they are trusted (with http:// one of these is required):
  --key FILE           a public OpenPGP key; the signature SHA256SUMS.asc must be made with it
  --sum SHA256         the SHA-256 sum of the file SHA256SUMS
What a minion is told:
  --master ADDRESS     its master
  --finger FINGERPRINT that of the master's key, from "salt-key -f master.pub" there; the minion accepts no other master
  --id ID              its name
Others:
  --format KIND        deb, rpm or tar; default: what this system uses
  --version VERSION    of the packages, when there are several
  --prefix FOLDER      where an archive (tar) is unpacked; default: /opt/halite
  --no-start           install only: nothing is started or restarted
  --list               print the names of the packages that would be taken, change nothing
  --dry-run            print what would be done, change nothing
  --help               this text

Exit status: 0 done, 1 failed, 2 wrong options.
TEXT
}

say() { printf '%s\n' "bootstrap: $*"; }
fail() {
	printf '%s\n' "bootstrap: $*" >&2
	exit 1
}
wrong() {
	printf '%s\n' "bootstrap: $* (--help shows all options)" >&2
	exit 2
}
have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command that changes the system, or shows it.
run() {
	if [ "$dry" = yes ]; then
		printf '%s\n' "would run: $*"
	else
		"$@"
	fi
}

from='' only='' mirror='' key='' sum='' master='' finger='' id='' format='' version='' prefix=/opt/halite start=yes dry=no list=no roles=''
while [ $# -gt 0 ]; do
	case $1 in
	--from | --mirror | --key | --sum | --master | --finger | --id | --format | --version | --prefix)
		[ $# -ge 2 ] || wrong "$1 needs a value"
		case $2 in *"'"* | *'
'*) wrong "$1 may hold neither quotes nor line breaks" ;; esac
		case $1 in
		--from) from=$2 ;;
		--mirror) mirror=${2%/} ;;
		--key) key=$2 ;;
		--sum) sum=$2 ;;
		--master) master=$2 ;;
		--finger) finger=$2 ;;
		--id) id=$2 ;;
		--format) format=$2 ;;
		--version) version=$2 ;;
		--prefix) prefix=$2 ;;
		esac
		shift 2
		;;
	--no-start) start=no; shift ;;
	--dry-run) dry=yes; shift ;;
	--list) dry=yes list=yes; shift ;;
	--help | -h) usage; exit 0 ;;
	minion | master | commands) roles="$roles $1"; shift ;;
	*) wrong "unknown: $1" ;;
	esac
done
[ -n "$roles" ] || wrong 'name what to install: minion, master or commands'
[ -n "$from$mirror" ] || wrong 'say where from: --from or --mirror'
[ -z "$from" ] || [ -z "$mirror" ] || wrong '--from and --mirror exclude each other'
protocols==http,https
case $mirror in
https://*) protocols==https ;;
'' | file://*) ;;
http://*) [ -n "$key$sum" ] || wrong 'with http:// anybody on the way can replace packages: give --key or --sum' ;;
*) wrong "--mirror must begin with https://, http:// or file://" ;;
esac
case $finger in *[!0-9A-Fa-f:]*) wrong '--finger must be pairs of hex digits with colons' ;; esac
case $sum in *[!0-9A-Fa-f]*) wrong '--sum must be hex digits' ;; esac
case $sum in ????????????????????????????????????????????????????????????????*) ;; '') ;; *) wrong '--sum must have 64 digits' ;; esac
case $format in '' | deb | rpm | tar) ;; *) wrong '--format must be deb, rpm or tar' ;; esac
case $prefix in /*) ;; *) wrong '--prefix must begin with /' ;; esac
case $version in *[!0-9A-Za-z.~+-]*) wrong '--version must be a version' ;; esac
case " $roles " in *" minion "*) ;; *) [ -z "$master$finger$id" ] || wrong '--master, --finger and --id are for minions' ;; esac
[ "$dry" = yes ] || [ "$(id -u)" = 0 ] || fail 'this needs root'

# The system.
os='' like=''
if [ -r /etc/os-release ]; then
	# shellcheck disable=SC1091
	os=$(. /etc/os-release && printf '%s' "${ID:-}")
	# shellcheck disable=SC1091
	like=$(. /etc/os-release && printf '%s' "${ID_LIKE:-}")
fi
if [ -z "$format" ]; then
	case " $os $like " in
	*' debian '* | *' ubuntu '*) format=deb ;;
	*' rhel '* | *' fedora '* | *' centos '* | *' suse '* | *' opensuse '* | *' amzn '*) format=rpm ;;
	*) format=tar ;;
	esac
fi
case $(uname -m) in
x86_64 | amd64) arch=x64 deb=amd64 rpm=x86_64 ;;
aarch64 | arm64) arch=arm64 deb=arm64 rpm=aarch64 ;;
*) fail "there are no packages for the processor $(uname -m)" ;;
esac
[ "$list" = yes ] || say "system: ${os:-unknown}, processor: $arch, packages: $format"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() { # name
	case $mirror in
	file://*) cp "${mirror#file://}/$1" "$work/$1" ;;
	*)
		if have curl; then
			# A server may lead elsewhere, but not from https to http.
			curl -fsSL --proto "$protocols" --retry 3 -o "$work/$1" "$mirror/$1"
		elif have wget; then
			wget -q -O "$work/$1" "$mirror/$1"
		else
			fail 'neither curl nor wget is there to fetch packages'
		fi
		;;
	esac || fail "cannot fetch $1 from $mirror"
}

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# SHA256SUMS lies in $work: is it the releaser's?
trust_sums() {
	if [ -n "$sum" ]; then
		[ "$(sum_of "$work/SHA256SUMS")" = "$(printf '%s' "$sum" | tr 'A-F' 'a-f')" ] ||
			fail 'SHA256SUMS is not the file that --sum names'
	fi
	[ -n "$key" ] || return 0
	[ -r "$key" ] || fail "cannot read the key $key"
	[ -e "$work/SHA256SUMS.asc" ] || fail 'there is no signature SHA256SUMS.asc'
	have gpg || fail 'gpg is not there to check the signature'
	mkdir -m 700 "$work/gpg"
	gpg --homedir "$work/gpg" --batch --quiet --import "$key" 2>/dev/null || fail "$key is not a public key"
	gpg --homedir "$work/gpg" --batch --quiet --trust-model always --verify "$work/SHA256SUMS.asc" "$work/SHA256SUMS" 2>/dev/null ||
		fail 'the signature of SHA256SUMS does not fit'
	say 'the signature fits'
}

# Names of packages for these roles, as patterns.
wanted() {
	case $format in
	tar) echo "${only:-halite-${version:-*}-linux-$arch.tar.xz}" ;;
	deb) for part in $parts; do echo "halite-${part}_${version:-*}_$deb.deb"; done ;;
	rpm) for part in $parts; do echo "halite-$part-${version:-*}-1.$rpm.rpm"; done ;;
	esac
}

# $1: a pattern; names on the standard input. Prints the newest that fits.
newest() {
	while read -r name; do
		# shellcheck disable=SC2254
		case $name in *[!A-Za-z0-9._~+-]*) ;; $1) echo "$name" ;; esac
	done | if sort -V </dev/null 2>/dev/null; then sort -V; else sort; fi | tail -n 1
}

parts='runtime common'
for role in $roles; do [ "$role" = commands ] || parts="$parts $role"; done

# Puts the files to install into $work and their paths into $files.
files=''
collect() {
	if [ -n "$from" ] && [ -f "$from" ]; then
		only=${from##*/}
		case $only in
		*.tar.xz) format=tar named=$version ;;
		halite-*_*_*.deb) format=deb named=${only#*_}; named=${named%_*} ;;
		halite-*-*-1.*.rpm) format=rpm named=${only%-1.*}; named=${named##*-} ;;
		*) fail "$from is no package" ;;
		esac
		[ -z "$version" ] || [ "$version" = "$named" ] || wrong "$only has another version than --version"
		# The others of this version lie beside it.
		version=$named
		from=$(dirname "$from")
		if [ "$format" = tar ] && [ ! -e "$from/SHA256SUMS" ]; then
			[ -z "$key$sum" ] || fail "there is no SHA256SUMS beside $only"
			[ "$list" = no ] || echo "$only"
			files=$from/$only
			return
		fi
	fi
	if [ -n "$from" ]; then
		[ -d "$from" ] || fail "$from is not there"
		from=$(cd "$from" && pwd)
		mirror=file://$from
	fi
	fetch SHA256SUMS
	[ -z "$key" ] || fetch SHA256SUMS.asc
	trust_sums
	for pattern in $(wanted); do
		name=$(sed 's/^[0-9a-f]*  //' "$work/SHA256SUMS" | newest "$pattern")
		[ -n "$name" ] || fail "$mirror has no $pattern"
		if [ "$list" = yes ]; then
			echo "$name"
			continue
		fi
		fetch "$name"
		[ "$(grep -F "  $name" "$work/SHA256SUMS" | head -n 1 | cut -d ' ' -f 1)" = "$(sum_of "$work/$name")" ] ||
			fail "$name is not the file that SHA256SUMS names"
		say "checked: $name"
		files="$files $work/$name"
	done
}

# Before the installation, so that the first start has it; a minion that runs already is restarted for it.
restart=no
configure_minion() {
	[ -n "$master$finger$id" ] || return 0
	file=/etc/salt/minion.d/bootstrap.conf
	{
		echo '# Written by bootstrap.sh.'
		[ -z "$master" ] || echo "master: '$master'"
		[ -z "$finger" ] || echo "master_finger: '$finger'"
		[ -z "$id" ] || echo "id: '$id'"
	} >"$work/minion.conf"
	if [ "$dry" = yes ]; then
		echo "would write $file:"
		sed 's/^/    /' "$work/minion.conf"
		return
	fi
	mkdir -p /etc/salt/minion.d
	if [ -e "$file" ] && cmp -s "$file" "$work/minion.conf"; then
		say "$file is up to date"
		return
	fi
	if [ -d /run/systemd/system ]; then
		! systemctl is-active --quiet salt-minion || restart=yes
	elif [ -x /etc/init.d/salt-minion ]; then
		! /etc/init.d/salt-minion status >/dev/null || restart=yes
	fi
	[ ! -e "$file" ] || cp -p "$file" "$file.old"
	cp "$work/minion.conf" "$file.new"
	chmod 0640 "$file.new"
	mv "$file.new" "$file"
	say "wrote $file"
}

# shellcheck disable=SC2086 # $files and $roles are lists.
install_packages() {
	# The scripts of the packages look at it.
	[ "$start" = yes ] || export HALITE_START=no
	case $format in
	deb)
		export DEBIAN_FRONTEND=noninteractive
		# Without lists of packages what is missing cannot be found.
		if [ "$dry" = yes ]; then
			run apt-get install -y --no-install-recommends $files
		elif ! apt-get install -y --no-install-recommends --allow-downgrades $files; then
			say 'once more with new lists of packages'
			apt-get update || fail 'apt-get update failed'
			apt-get install -y --no-install-recommends --allow-downgrades $files || fail 'apt-get install failed'
		fi
		;;
	rpm)
		if have dnf; then
			run dnf install -y $files
		elif have yum; then
			run yum install -y $files
		elif have zypper; then
			run zypper --non-interactive --no-gpg-checks install --allow-unsigned-rpm $files
		else
			run rpm -U --replacepkgs $files
		fi || fail 'the installation failed'
		;;
	tar) install_archive ;;
	esac
}

# Where there are no packages for the system: one folder, and links to its commands.
# shellcheck disable=SC2086
install_archive() {
	if have apk; then run apk add --no-cache nodejs libstdc++ xz; fi
	run mkdir -p "$prefix"
	run tar -xJf "${files# }" -C "$prefix" --strip-components=1
	if [ "$dry" = yes ]; then
		echo "would link the commands of $prefix/bin in /usr/local/bin"
		return
	fi
	if ! "$prefix/lib/halite/bin/node" --version >/dev/null 2>&1; then
		have node || fail 'the Node inside the archive does not run here, and there is no other one'
		say "the Node inside does not run here: $(command -v node) $(node --version) takes its place"
		ln -sf "$(command -v node)" "$prefix/lib/halite/bin/node"
	fi
	mkdir -p /usr/local/bin /etc/salt
	set +f
	for command in "$prefix"/bin/*; do ln -sf "$command" "/usr/local/bin/${command##*/}"; done
	set -f
	for role in $roles; do
		[ "$role" != commands ] || continue
		[ -e "/etc/salt/$role" ] || : >"/etc/salt/$role"
		if [ "$start" = yes ]; then
			say "starting salt-$role; nothing starts it after a reboot yet"
			"$prefix/bin/salt-$role" --daemon || fail "salt-$role did not start"
		fi
	done
}

# Packages start services with systemd; elsewhere, and where packages may start nothing, it is done here.
start_role() { # role
	[ "$start" = yes ] && [ "$format" != tar ] || return 0
	begin=start
	[ "$1" != minion ] || [ "$restart" = no ] || begin=restart
	if [ -d /run/systemd/system ]; then
		if [ "$begin" = start ] && systemctl is-active --quiet "salt-$1"; then return 0; fi
		systemctl restart "salt-$1" || fail "salt-$1 did not start: journalctl -u salt-$1"
	elif [ -x "/etc/init.d/salt-$1" ]; then
		"/etc/init.d/salt-$1" "$begin" || fail "salt-$1 did not start"
	else
		say "start it with: salt-$1 --daemon"
	fi
}

finish() {
	[ "$dry" = no ] || return 0
	PATH=$PATH:/usr/local/bin
	salt-call --version || fail 'the commands do not run'
	for role in $roles; do
		[ "$role" = commands ] || start_role "$role"
		case $role in
		master) say "the fingerprint of this master, for --finger of its minions: $(salt-key -f master.pub --no-color 2>/dev/null | sed -n 's/^ *master.pub: *//p')" ;;
		minion) say "the fingerprint of this minion: $(salt-call --local key.finger --no-color 2>/dev/null | tail -n 1 | tr -d ' ')" ;;
		esac
	done
	say 'ready'
}

collect
[ "$list" = no ] || exit 0
configure_minion
install_packages
finish
