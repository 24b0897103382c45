// Salt's names of operating systems and their families.

/** First ten letters of the distribution's name, lower case without blanks → `os`. */
export const osByShortName: Readonly<Record<string, string>> = {
  redhatente: 'RedHat',
  gentoobase: 'Gentoo',
  archarm: 'Arch ARM',
  arch: 'Arch',
  debian: 'Debian',
  Junos: 'Junos',
  raspbian: 'Raspbian',
  fedoraremi: 'Fedora',
  chapeau: 'Chapeau',
  korora: 'Korora',
  amazonami: 'Amazon',
  alt: 'ALT',
  enterprise: 'OEL',
  oracleserv: 'OEL',
  cloudserve: 'CloudLinux',
  cloudlinux: 'CloudLinux',
  almalinux: 'AlmaLinux',
  pidora: 'Fedora',
  scientific: 'ScientificLinux',
  synology: 'Synology',
  nilrt: 'NILinuxRT',
  poky: 'Poky',
  manjaro: 'Manjaro',
  manjarolin: 'Manjaro',
  univention: 'Univention',
  antergos: 'Antergos',
  sles: 'SUSE',
  void: 'Void',
  slesexpand: 'RES',
  linuxmint: 'Mint',
  neon: 'KDE neon',
  pop: 'Pop',
  rocky: 'Rocky',
  alibabaclo: 'Alinux',
  mendel: 'Mendel',
  photon: 'VMware Photon OS',
};

/** os-release `ID` and `NAME`, joined by a slash → `os`. */
export const osByIdAndName: Readonly<Record<string, string>> = {
  'astra/Astra Linux (Orel)': 'AstraLinuxCE',
  'astra/Astra Linux (Smolensk)': 'AstraLinuxSE',
  'pop/Pop!_OS': 'Pop',
};

const families: Readonly<Record<string, readonly string[]>> = {
  Debian: [
    ...['Ubuntu', 'Mint', 'Trisquel', 'GCEL', 'Linaro', 'elementary OS', 'elementary', 'Univention', 'Raspbian'],
    ...['Devuan', 'antiX', 'Kali', 'Parrot OS', 'neon', 'Cumulus', 'Deepin', 'KDE neon', 'IDMS', 'TurnKey', 'Pop'],
    ...['AstraLinuxCE', 'AstraLinuxSE', 'Mendel', 'OSMC'],
  ],
  RedHat: [
    ...['Fedora', 'Chapeau', 'Korora', 'FedBerry', 'CentOS', 'CentOS Stream', 'GoOSe', 'Scientific', 'Amazon'],
    ...['CloudLinux', 'AlmaLinux', 'OVS', 'OEL', 'XCP', 'XCP-ng', 'XenServer', 'RES', 'Sangoma', 'VMware Photon OS'],
    ...['ALT', 'ScientificLinux', 'Rocky', 'Alinux'],
  ],
  Suse: [
    ...['SLES', 'SUSE Enterprise Server', 'SUSE  Enterprise Server', 'SLED', 'openSUSE', 'SUSE', 'openSUSE Leap'],
    ...['openSUSE Tumbleweed', 'SLES_SAP'],
  ],
  Arch: ['Arch ARM', 'Manjaro', 'Manjaro ARM', 'Antergos', 'EndeavourOS'],
  Gentoo: ['Funtoo'],
  Mandriva: ['Mandrake'],
  VMware: ['VMwareESX'],
  Bluewhite: ['Bluewhite64'],
  Slackware: ['Slamd64'],
};

/** `os` → `os_family`; an unknown `os` is its own family. */
export const familyByOs: ReadonlyMap<string, string> = new Map(
  Object.entries(families).flatMap(([family, names]) => names.map((name) => [name, family] as const)),
);
