// A disposable system: this machine's own files below a writable layer in memory, in namespaces of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { disposableTools } from './disposable-tools.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const namespaces = '--mount --pid --net --uts --ipc --fork --kill-child --propagation private'.split(' ');

/**
 * Builds the root and stays as its first process. $1: an empty folder, $2: a folder laid over `/`, or nothing; further
 * arguments: folders seen read-only at their own place. The layer is copied: one inside the other is refused.
 */
const builder = `set -eu
base=$1; tools=$2; shift 2
read -r pid _ < /proc/self/stat
echo "$pid" >&3
mount -t tmpfs -o mode=0755 none "$base"
mkdir "$base/upper" "$base/work" "$base/root" "$base/tools"
if [ -n "$tools" ]; then cp -a "$tools/." "$base/tools"; fi
mount -t overlay overlay -o "lowerdir=$base/tools:/,upperdir=$base/upper,workdir=$base/work" "$base/root"
root=$base/root
for folder in tmp run; do mount -t tmpfs -o mode=1777 none "$root/$folder"; done
for folder in "$@"; do
  mkdir -p "$root$folder"
  mount --bind "$folder" "$root$folder"
  mount -o remount,bind,ro "$root$folder"
done
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
mount -o remount,bind,rw "$root/proc/sys/net"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=0755 none "$root/dev"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
mkdir -p "$root/run/lock" "$root/mnt/.outside"
cd "$root"
pivot_root . mnt/.outside
umount -l /mnt/.outside
rmdir /mnt/.outside
hostname disposable
ip link set lo up 2>/dev/null || true
echo ready >&3
exec 3>&-
read -r _ || true
`;

export interface RanInside {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a disposable system is made of, tried in the small. $1: an empty folder. */
const trial = `set -eu
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
`;

/** Why there can be no disposable system here; undefined when there can. */
export function disposableObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'disposable systems need Linux';
  if (process.getuid?.() !== 0) return 'disposable systems need root';
  const folder = mkdtempSync(join(tmpdir(), 'halite-root-'));
  const args = [...namespaces, 'sh', '-c', trial, 'sh', folder];
  const tried = spawnSync('unshare', args, { encoding: 'utf8' });
  rmSync(folder, { recursive: true, force: true });
  return tried.status === 0 ? undefined : `unshare: ${tried.stderr ?? tried.error?.message}`;
}

/** Part of what every disposable system shows anyway, and may change for itself: Node in `/usr/local` too. */
const isOfSystem = (path: string): boolean =>
  path === '/' || path === '/usr' || (path.startsWith('/usr/') && statSync(path).dev === statSync('/').dev);

export class DisposableSystem {
  private readonly holder: ChildProcess;
  private readonly pid: number;
  private readonly folder: string;

  private constructor(holder: ChildProcess, pid: number, folder: string) {
    this.holder = holder;
    this.pid = pid;
    this.folder = folder;
  }

  /** Ready when it resolves; takes a fraction of a second. Folders in `visible` are read-only inside. */
  static async create(visible: readonly string[] = []): Promise<DisposableSystem> {
    const folder = mkdtempSync(join(tmpdir(), 'halite-root-'));
    const tools = disposableTools();
    const shown = [checkout, dirname(dirname(process.execPath)), ...visible];
    const own = shown.filter((path, index) => !isOfSystem(path) && shown.indexOf(path) === index);
    const args = [...namespaces, 'sh', '-c', builder, 'sh', folder, tools ?? '', ...own];
    const holder = spawn('unshare', args, { stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
    const pid = await firstWords(holder).catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
    return new DisposableSystem(holder, pid, folder);
  }

  /** A path of the system as this process reaches it. */
  path(inside: string): string {
    return join('/proc', String(this.pid), 'root', inside);
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(name)), { recursive: true });
      writeFileSync(this.path(name), text);
    }
  }

  /** Runs a program inside, with a plain environment. */
  run(argv: readonly string[], options: { timeoutMs?: number; input?: string } = {}): Promise<RanInside> {
    const env = {
      PATH: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${dirname(process.execPath)}`,
      HOME: '/root',
      USER: 'root',
      LANG: 'C.UTF-8',
      DEBIAN_FRONTEND: 'noninteractive',
    };
    const enter = ['--target', String(this.pid), '--mount', '--pid', '--net', '--uts', '--ipc', '--'];
    // Neither the kernel's modules nor its clock have namespaces.
    const safe = ['setpriv', '--bounding-set=-sys_module,-sys_time,-sys_rawio', '--'];
    const child = spawn('nsenter', [...enter, ...safe, ...argv], { env, timeout: options.timeoutMs ?? 120_000 });
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status) => resolve({ status, stdout: stdout.join(''), stderr: stderr.join('') }));
    });
  }

  /** Ends everything inside; the layer in memory goes with it. */
  async destroy(): Promise<void> {
    const gone = new Promise((resolve) => this.holder.once('close', resolve));
    if (this.holder.exitCode === null && this.holder.signalCode === null) {
      this.holder.kill('SIGKILL');
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The process id the builder names first, once it has said that it is ready. */
function firstWords(holder: ChildProcess): Promise<number> {
  let said = '';
  let wrong = '';
  holder.stderr?.setEncoding('utf8').on('data', (text: string) => {
    wrong += text;
  });
  return new Promise((resolve, reject) => {
    const channel = holder.stdio[3] as NodeJS.ReadableStream;
    channel.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('ready')) resolve(Number.parseInt(said, 10));
    });
    holder.on('error', reject);
    holder.on('close', (code) => reject(new Error(`no disposable system (${code}): ${wrong}`)));
  });
}
