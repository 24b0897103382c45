// `halite cluster`: what is done before or without a running master.
import { loadMasterConfig } from '../../../base/config/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { nearest } from '../../../base/util/nearest.ts';
import type { Terminal } from '../../io.ts';
import { initCluster } from './init.ts';
import { natsFiles } from './nats.ts';

const verbs = ['init', 'nats', 'join'];

export interface ClusterCommand {
  readonly configDir: string;
  readonly words: readonly string[];
  readonly dryRun: boolean;
  readonly io: Terminal;
  readonly keysFrom?: string;
  readonly sshConfig?: string;
}

export async function clusterCommand(command: ClusterCommand): Promise<void> {
  const { configDir, words, dryRun, io } = command;
  const [verb = '', ...rest] = words;
  if (!verbs.includes(verb)) {
    const meant = nearest(verb, verbs);
    throw new HaliteError(
      'cli.usage',
      verb === '' ? 'name a command: cluster init, cluster nats or cluster join' : `there is no "cluster ${verb}"`,
      {
        hint:
          meant === undefined
            ? 'cluster init <name> <server>…, cluster nats [<host> <other host>…], cluster join [<invitation>]'
            : `Did you mean '${meant}'?`,
      },
    );
  }
  if (verb === 'join') {
    const { joinCluster } = await import('./join/command.ts');
    const { keysFrom = '', sshConfig = '' } = command;
    return joinCluster({ configDir, words: rest, dryRun, io, keysFrom, sshConfig });
  }
  const { opts } = loadMasterConfig({ configDir });
  if (verb === 'init') await initCluster({ opts, words: rest, dryRun, io, configDir });
  else await natsFiles({ opts, words: rest, dryRun, io, configDir });
}
