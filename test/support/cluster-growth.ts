// One master that becomes a cluster, and machines that join it, by the same commands that the guide names.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CommandResult,
  Deployment,
  type DeploymentOptions,
  halite,
  runProgram,
  startProgram,
} from './deployment.ts';
import { eventually } from './eventually.ts';
import { type NatsCluster, natsPrograms, startNats } from './servers/nats.ts';

/** A machine with a configuration and no keys. */
export async function machine(id: string, options: DeploymentOptions = {}): Promise<Deployment> {
  const made = await Deployment.create(options);
  appendFileSync(made.path('etc/master'), `id: ${id}\n`);
  return made;
}

export const startServers = (): Promise<NatsCluster> => {
  const program = natsPrograms().at(-1)?.program;
  if (program === undefined) throw new Error('there is no nats-server');
  return startNats(program);
};

/** `halite` with the configuration of a machine. */
export const haliteOn = (on: Deployment, args: readonly string[], input?: string): Promise<CommandResult> =>
  haliteIn(on.masterConfigDir, args, input);

const haliteIn = (etc: string, args: readonly string[], input?: string): Promise<CommandResult> =>
  runProgram(join(halite.bin, 'halite'), ['-c', etc, ...args], {
    timeoutMs: 120_000,
    ...(input === undefined ? {} : { input }),
  });

export const startHaliteOn = (
  on: Deployment,
  args: readonly string[],
  input: string,
): ReturnType<typeof startProgram> =>
  startProgram(join(halite.bin, 'halite'), ['-c', on.masterConfigDir, ...args], { input });

export async function runner(on: Deployment, ...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await on.run('salt-run', [...args, '--out=newline_values_only']);
  if (code !== 0) throw new Error(`salt-run ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout.trim();
}

/** The first member: its keys by `halite cluster init`, and the block that it prints. */
export const beginCluster = (first: Deployment, nats: NatsCluster): Promise<void> =>
  beginClusterAt(first.masterConfigDir, nats);

export async function beginClusterAt(etc: string, nats: NatsCluster): Promise<void> {
  const { stdout, stderr, code } = await haliteIn(etc, ['cluster', 'init', 'test', ...nats.servers]);
  if (code !== 0) throw new Error(stdout + stderr);
  const block = stdout.slice(stdout.indexOf('\ncluster:\n') + 1);
  mkdirSync(join(etc, 'master.d'), { recursive: true });
  // One server of the test keeps one copy.
  writeFileSync(join(etc, 'master.d/cluster.conf'), `${block}  replicas: 1\n  log_mb: 256\n`);
}

export const invite = (on: Deployment, ...args: string[]): Promise<string> => runner(on, 'cluster.invite', ...args);

/** Until each shows all of them. */
export async function together(members: readonly Deployment[]): Promise<void> {
  for (const member of members) {
    await eventually(
      'all members to be seen',
      // It fails while the minions of a new member are not known yet.
      async () =>
        (await member.run('salt-run', ['cluster.status'])).stdout.includes(
          `${members.length} of ${members.length} masters`,
        ),
      { timeoutMs: 120_000, describe: () => member.master.output().slice(-3000) },
    );
  }
}
