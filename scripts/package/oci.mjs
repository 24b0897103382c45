// An image for containers: a layer with a base system that the releaser gives, and one with Halite.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedTar } from './archive.mjs';
import { run } from './run.mjs';
import { commandNames, writeCommand } from './stage.mjs';

const architectures = { x64: 'amd64', arm64: 'arm64' };
const kind = (name) => `application/vnd.oci.image.${name}.v1`;

/** `base`: a folder with a root file system of this processor, or a tar of one. */
export function ociImage({ app, arch, out, seconds, version, base }) {
  const scratch = mkdtempSync(join(tmpdir(), 'halite-oci-'));
  try {
    const [image, tree] = [join(scratch, 'image'), join(scratch, 'tree')];
    mkdirSync(join(image, 'blobs/sha256'), { recursive: true });
    mkdirSync(join(tree, 'usr/lib'), { recursive: true });
    mkdirSync(join(tree, 'usr/bin'));
    run('cp', ['-a', app, join(tree, 'usr/lib/halite')]);
    for (const name of commandNames) writeCommand(join(tree, 'usr/bin', name), name, '/usr/lib/halite');
    run('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
    const blob = (mediaType, bytes) => {
      const hex = createHash('sha256').update(bytes).digest('hex');
      writeFileSync(join(image, 'blobs/sha256', hex), bytes);
      return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
    };
    const layers = [baseTar(base, seconds, scratch), fixedTar(tree, join(scratch, 'halite.tar'), seconds)].map(
      (tar) => ({
        plain: `sha256:${createHash('sha256').update(readFileSync(tar)).digest('hex')}`,
        packed: packed(tar, (bytes) => blob(`${kind('layer')}.tar+gzip`, bytes)),
      }),
    );
    const created = new Date(seconds * 1000).toISOString();
    const config = blob(`${kind('config')}+json`, json(configuration({ arch, created, version, layers })));
    const manifest = blob(
      `${kind('manifest')}+json`,
      json({
        ...{ schemaVersion: 2, mediaType: `${kind('manifest')}+json`, config },
        layers: layers.map((layer) => layer.packed),
      }),
    );
    const named = { ...manifest, annotations: { 'org.opencontainers.image.ref.name': version } };
    writeFileSync(join(image, 'index.json'), json({ schemaVersion: 2, manifests: [named] }));
    writeFileSync(join(image, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
    run('chmod', ['-R', 'u+rwX,go+rX,go-w', image]);
    return fixedTar(image, join(out, `halite-${version}-linux-${arch}.oci.tar`), seconds);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const json = (value) => Buffer.from(`${JSON.stringify(value)}\n`);

/** Owners as they are; devices and what a running system mounts stay behind. */
function baseTar(base, seconds, scratch) {
  if (statSync(base).isFile()) return base;
  const without = ['dev', 'proc', 'sys', 'run', 'tmp'].map((name) => `--exclude=./${name}/*`);
  return fixedTar(base, join(scratch, 'base.tar'), seconds, { owners: true, more: without });
}

function packed(tar, use) {
  run('sh', ['-c', 'gzip -n -6 <"$1" >"$2"', 'sh', tar, `${tar}.gz.new`]);
  try {
    return use(readFileSync(`${tar}.gz.new`));
  } finally {
    rmSync(`${tar}.gz.new`);
  }
}

const configuration = ({ arch, created, version, layers }) => ({
  ...{ created, architecture: architectures[arch], os: 'linux' },
  config: {
    Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    Cmd: ['salt-master'],
    ExposedPorts: { '4505/tcp': {}, '4506/tcp': {}, '8000/tcp': {} },
    // What must outlive a container: keys and configuration, history.
    Volumes: { '/etc/salt': {}, '/var/cache/salt': {} },
    StopSignal: 'SIGTERM',
    Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'Apache-2.0' },
  },
  rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.plain) },
  history: ['the base system', `halite ${version}`].map((comment) => ({ created, created_by: comment })),
});
