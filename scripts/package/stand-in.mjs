// A package salt-minion with the scripts that the tools of the distributions give to every package with a service: that of Salt
// itself is not in their newer releases. Built on the machine that gets it, by these scripts for the shell, in /root.

const unit = `[Unit]
Description=stands for that of Salt
[Service]
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target`;

const put = (folder) => `rm -f /etc/salt/minion; mkdir -p ${folder}/etc/salt ${folder}/lib/systemd/system
printf 'acceptance_wait_time: 1\\n' >${folder}/etc/salt/minion
cat >${folder}/lib/systemd/system/salt-minion.service <<'END'
${unit}
END`;

/** Every administrator has. */
const changed = `echo '# of the administrator' >>/etc/salt/minion
`;

/** As debhelper: the unit is hidden when the package is removed, and shown again when it is configured. */
export const debianStandIn = `set -e
rm -rf /root/salt && mkdir -p /root/salt/DEBIAN && cd /root/salt
${put('/root/salt')}
cat >DEBIAN/control <<'END'
Package: salt-minion
Version: 3006.27
Architecture: all
Maintainer: nobody <nobody@invalid>
Description: stands for that of Salt
END
echo /etc/salt/minion >DEBIAN/conffiles
cat >DEBIAN/postinst <<'END'
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
deb-systemd-helper unmask salt-minion.service >/dev/null || true
deb-systemd-helper enable salt-minion.service >/dev/null || true
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || true
	deb-systemd-invoke start salt-minion.service || true
fi
END
cat >DEBIAN/prerm <<'END'
#!/bin/sh
set -e
[ "$1" = remove ] && [ -d /run/systemd/system ] || exit 0
deb-systemd-invoke stop salt-minion.service || true
END
cat >DEBIAN/postrm <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ]; then deb-systemd-helper mask salt-minion.service >/dev/null || true; fi
END
chmod 755 DEBIAN/postinst DEBIAN/prerm DEBIAN/postrm
dpkg-deb --build --root-owner-group /root/salt /root/salt-minion.deb
apt-get install -y -o Dpkg::Options::=--force-confold /root/salt-minion.deb
${changed}`;

export const rpmStandIn = `set -e
rm -rf /root/salt && mkdir -p /root/salt && cd /root/salt
${put('/root/salt')}
cat >salt.spec <<'END'
Name: salt-minion
Version: 3006.27
Release: 1
Summary: stands for that of Salt
License: none
BuildArch: noarch
%description
Stands for that of Salt.
%install
mkdir -p %{buildroot}
cp -a /root/salt/etc /root/salt/lib %{buildroot}
%post
systemctl --system daemon-reload || :
systemctl enable --now salt-minion.service || :
%preun
if [ $1 -eq 0 ]; then systemctl --no-reload disable --now salt-minion.service || :; fi
%files
%config(noreplace) /etc/salt/minion
/lib/systemd/system/salt-minion.service
END
rpmbuild -bb --define '_rpmdir /root' salt.spec
rpm -i --nodeps /root/noarch/salt-minion-3006.27-1.noarch.rpm
${changed}`;
