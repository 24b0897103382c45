// Reading files: Node's own functions, which change nothing.
export {
  accessSync,
  type BigIntStats,
  constants,
  createReadStream,
  type Dirent,
  existsSync,
  type FSWatcher,
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
  watch,
} from 'node:fs';
export { access, lstat, readdir, readFile, readlink, realpath, stat, statfs } from 'node:fs/promises';
