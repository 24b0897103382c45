// RPM packages, written here: rpmbuild is not everywhere, and knows more about this machine than a package should.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { eachPackage, entriesOf, installedSize } from './contents.mjs';
import { header, lead } from './rpm-header.mjs';
import { run } from './run.mjs';

const architectures = { x64: 'x86_64', arm64: 'aarch64' };
const [less, equal, internal] = [2, 8, 1 << 24];
const configKept = 17;
const needsOfFormat = [
  ['rpmlib(CompressedFileNames)', '3.0.4-1'],
  ['rpmlib(FileDigests)', '4.6.0-1'],
  ['rpmlib(PayloadFilesHavePrefix)', '4.0-1'],
  ['rpmlib(PayloadIsXz)', '5.2-1'],
];

const sum = (kind, ...parts) => parts.reduce((hash, part) => hash.update(part), createHash(kind)).digest('hex');

const marker = (name) => `/run/${name}.new`;
const saved = 'for file in /etc/salt/*.rpmsave; do';

/**
 * RPM calls scripts with the number of versions that remain. A package of Salt that loses its place is removed after ours is
 * installed: its script stops and disables the service of the same name, and RPM puts its configuration away. So new services
 * begin when all is done, with the configuration that was put away since.
 */
const hooks = [
  [
    ...[1024, 1086],
    ({ installed, services }, name, replaces) => {
      const isNew = `${saved} [ ! -e "$file" ] || echo "$file"; done >${marker(name)}${services ? '; exit 0' : ''}`;
      const first = replaces.length > 0 ? `[ $how = upgrade ] || { ${isNew}; }\n` : '';
      return installed && `how=new\n[ "$1" -lt 2 ] || how=upgrade\n${first}${installed}`;
    },
  ],
  [
    ...[1152, 1154],
    ({ installed, services }, name, replaces) => {
      const back = `grep -qxF "$file" ${marker(name)} || [ ! -e "$file" ] || [ -e "\${file%.rpmsave}" ] || mv "$file" "\${file%.rpmsave}"`;
      const begin = `[ -e ${marker(name)} ] || exit 0\n${saved} ${back}; done\nrm -f ${marker(name)}\n`;
      return replaces.length > 0 && `${begin}${services ? `how=new\n${installed}` : ''}`;
    },
  ],
  [1025, 1087, ({ removing }) => removing && `[ "$1" = 0 ] || exit 0\n${removing}`],
  [1026, 1088, ({ removed }) => removed && `[ "$1" = 0 ] || exit 0\n${removed}`],
];

/** Folders that other packages have too stay theirs. */
const isOurs = ({ path, stat }) => !stat.isDirectory() || /(^|\/)halite/.test(path);

/** The archive inside, and what the header says about each file. */
function payload(tree, entries, seconds, file) {
  const out = openSync(file, 'w');
  let size = 0;
  const write = (buffer) => {
    writeSync(out, buffer);
    size += buffer.length;
  };
  const pad = () => write(Buffer.alloc(-size & 3));
  const member = (name, ino, mode, length) => {
    const fields = [ino, mode, 0, 0, 1, seconds, length, 0, 0, 0, 0, name.length + 1, 0];
    const digits = fields.map((value) => value.toString(16).padStart(8, '0')).join('');
    write(Buffer.from(`070701${digits}${name}\0`));
    pad();
  };
  const digests = [];
  for (const [at, { path, stat }] of entries.entries()) {
    const content = stat.isFile()
      ? readFileSync(join(tree, path))
      : stat.isSymbolicLink()
        ? Buffer.from(readlinkSync(join(tree, path)))
        : Buffer.alloc(0);
    member(`./${path}`, at + 1, stat.mode, content.length);
    write(content);
    pad();
    digests.push(stat.isFile() ? sum('sha256', content) : '');
  }
  member('TRAILER!!!', 0, 0, 0);
  closeSync(out);
  return { digests, size };
}

function fileTags(tree, entries, digests, conffiles, seconds) {
  const folderOf = ({ path }) => `/${path.slice(0, path.lastIndexOf('/') + 1)}`;
  const folders = [...new Set(entries.map(folderOf))];
  const each = (value) => entries.map(value);
  return [
    [1028, 'int32', each(({ stat }) => (stat.isDirectory() ? 4096 : stat.size))],
    [1030, 'int16', each(({ stat }) => stat.mode & 0xffff)],
    [1033, 'int16', each(() => 0)],
    [1034, 'int32', each(() => seconds)],
    [1035, 'texts', digests],
    [1036, 'texts', each(({ path, stat }) => (stat.isSymbolicLink() ? readlinkSync(join(tree, path)) : ''))],
    [1037, 'int32', each(({ path }) => (conffiles.includes(`/${path}`) ? configKept : path.includes('/doc/') ? 2 : 0))],
    [1039, 'texts', each(() => 'root')],
    [1040, 'texts', each(() => 'root')],
    [1045, 'int32', each(() => 0xffffffff)],
    [1095, 'int32', each(() => 1)],
    [1096, 'int32', each((_, at) => at + 1)],
    [1097, 'texts', each(() => '')],
    [1116, 'int32', each((entry) => folders.indexOf(folderOf(entry)))],
    [1117, 'texts', each(({ path }) => path.slice(path.lastIndexOf('/') + 1))],
    [1118, 'texts', folders],
    [5011, 'int32', [8]],
  ];
}

/** Tags of a list of packages: `name` or `name = version`. */
function relations([names, flags, versions], list, release) {
  const parts = list.map((text) => text.split(' = '));
  return [
    [names, 'texts', parts.map(([name]) => name)],
    [flags, 'int32', parts.map(([, version]) => (version === undefined ? 0 : equal))],
    [versions, 'texts', parts.map(([, version]) => version?.replace('@version@', release) ?? '')],
  ];
}

function needs(list, release) {
  const [names, flags, versions] = relations([1049, 1048, 1050], list, release);
  for (const [name, version] of needsOfFormat) {
    names[2].push(name);
    flags[2].push(less | equal | internal);
    versions[2].push(version);
  }
  return [names, flags, versions];
}

/** With `key` of gpg: what rpm's own check wants, a signature of the header, which names the sum of the rest. */
function signature(bytes, key, scratch) {
  const file = join(scratch, 'header');
  writeFileSync(file, bytes);
  run('gpg', ['--batch', '--yes', '--local-user', key, '--digest-algo', 'sha256', '--detach-sign', file]);
  const signed = readFileSync(`${file}.sig`);
  // The number of the algorithm, after the head of the packet, the version and the type.
  const head = (signed[0] & 0x40) !== 0 ? (signed[1] < 192 ? 2 : 3) : 1 + (1 << (signed[0] & 3));
  return [signed[head + 2] === 1 ? 268 : 267, 'bytes', signed];
}

function write(described, tree, scratch, { arch, out, seconds, level, version, sign }) {
  const { name, depends, replaces, about, scripts, conffiles } = described;
  // What sorts before a release has a tilde in both formats.
  const release = `${version}-1`;
  const entries = entriesOf(tree).filter(isOurs);
  const archive = join(scratch, 'payload');
  const { digests, size } = payload(tree, entries, seconds, archive);
  run('xz', ['-T1', `-${level}`, '--check=crc32', archive]);
  const packed = readFileSync(`${archive}.xz`);
  const main = header(63, [
    [100, 'texts', ['C']],
    ...[
      [1000, name],
      [1001, version],
      [1002, '1'],
      [1007, 'halite'],
      [1014, 'Apache-2.0'],
      [1021, 'linux'],
      [1022, architectures[arch]],
      [1044, `halite-${release}.src.rpm`],
      [1064, '4.14.0'],
      [1124, 'cpio'],
      [1125, 'xz'],
      [1126, String(level)],
      [5062, 'utf-8'],
    ].map(([tag, text]) => [tag, 'text', text]),
    [1004, 'localText', about],
    [1005, 'localText', 'Halite is an independent implementation of Salt: the same commands, files and wire protocol.'],
    [1016, 'localText', 'System/Management'],
    [1006, 'int32', [seconds]],
    [1009, 'int32', [installedSize(entries)]],
    ...hooks.flatMap(([tag, program, text]) => {
      const found = text(scripts, name, replaces);
      return found
        ? [
            [tag, 'text', found],
            [program, 'text', '/bin/sh'],
          ]
        : [];
    }),
    ...fileTags(tree, entries, digests, conffiles, seconds),
    ...relations([1047, 1112, 1113], [`${name} = ${release}`, ...replaces], release),
    ...needs(depends.rpm, release),
    ...(replaces.length === 0
      ? []
      : [...relations([1054, 1053, 1055], replaces, release), ...relations([1090, 1114, 1115], replaces, release)]),
    [5092, 'texts', [sum('sha256', packed)]],
    [5093, 'int32', [8]],
  ]);
  const signatures = header(62, [
    ...(sign ? [signature(main, sign, scratch)] : []),
    [269, 'text', sum('sha1', main)],
    [273, 'text', sum('sha256', main)],
    [1000, 'int32', [main.length + packed.length]],
    [1004, 'bytes', Buffer.from(sum('md5', main, packed), 'hex')],
    [1007, 'int32', [size]],
  ]);
  const file = join(out, `${name}-${release}.${architectures[arch]}.rpm`);
  const gap = Buffer.alloc(-signatures.length & 7);
  writeFileSync(file, Buffer.concat([lead(`${name}-${release}`, arch), signatures, gap, main, packed]));
  return file;
}

/** Returns the paths of the packages. */
export function rpmPackages(plan) {
  const made = [];
  eachPackage(plan.app, (described, tree, scratch) => made.push(write(described, tree, scratch, plan)));
  return made;
}
