# Makes a disposable system look booted with systemd, and apt content without a network.
set -e
mkdir -p /run/systemd/system
mv /usr/bin/systemctl /usr/bin/systemctl.real
cp "$1" /usr/bin/systemctl
chmod 755 /usr/bin/systemctl
rm -f /etc/apt/apt.conf.d/docker-clean
if [ -n "$(ls "$2")" ]; then cp "$2"/*.deb /var/cache/apt/archives/; fi
