// Prints the results of a run, offers to deploy keys, and decides the exit code.
import { isatty } from 'node:tty';
import { dictOf, isDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { SshJob, SshResult, SshRun } from '../../ssh/run.ts';
import type { SshTarget } from '../../ssh/target.ts';
import { askHidden } from '../ask-hidden.ts';
import { keepOrder } from '../keep-order.ts';
import { ask } from '../key/prompt.ts';
import type { Display } from '../output.ts';
import { LiveProgress } from '../salt/live-progress.ts';
import { flagOption, type Settings } from '../settings.ts';

export interface ShowParts {
  readonly settings: Settings<MasterOpts>;
  readonly run: SshRun;
  readonly job: SshJob;
  readonly targets: readonly SshTarget[];
  readonly display: Display;
  /** Tells who shows progress. */
  watch(show: (id: string, text: string) => void): void;
}

export async function showResults(parts: ShowParts): Promise<number> {
  const { settings, run, job, targets, display } = parts;
  const { io } = settings;
  if (flagOption(settings, 'verbose')) {
    const line = `Executing job with jid ${job.jid}`;
    io.out(`${line}\n${'-'.repeat(line.length)}\n\n\n`);
  }
  const [asked, never] = [flagOption(settings, 'progress'), flagOption(settings, 'no_progress')];
  const progress = new LiveProgress({ asked, never, io });
  parts.watch((id, text) => progress.update({ text: `${id}: ${text}` }));
  progress.start(targets.length);
  const together: [string, Value][] = [];
  let outputter: string | undefined;
  let worst = 0;
  let done = 0;
  for await (const arrived of run.run(targets, job)) {
    progress.clear();
    const result = await withKey(parts, arrived);
    worst = Math.max(worst, arrived.retcode);
    const { target, ret, outcome, retcode } = result;
    const out = outcome.kind === 'result' ? outcome.out : undefined;
    if (flagOption(settings, 'static')) {
      together.push([target.id, ret]);
      outputter = out ?? outputter;
    } else {
      const shown = dictOf([[target.id, ret]]);
      if (outcome.kind === 'result' && outcome.inOrder) keepOrder(shown);
      await display.show(shown, out, retcode);
    }
    progress.update({ done: ++done });
  }
  progress.end();
  if (flagOption(settings, 'static')) await display.show(dictOf(together), outputter);
  return worst === 0 ? exitCodes.ok : exitCodes.aggregate;
}

/** `--key-deploy`, and the question of Salt when a target refuses the key. */
async function withKey(parts: ShowParts, result: SshResult): Promise<SshResult> {
  const { settings, run, job } = parts;
  const { target } = result;
  if (flagOption(settings, 'ssh_key_deploy') && target.passwd !== '') {
    const failure = await run.deployKey(target);
    if (failure)
      settings.io.err(
        `[ERROR   ] The key of ${target.id} was not deployed: ${(failure.stdout || failure.stderr).trim()}\n`,
      );
    return result;
  }
  if (!isDenied(result) || !isatty(0) || !isatty(1)) return result;
  const answer = ask(
    `Permission denied for host ${target.id}, do you want to deploy the salt-ssh key? (password required):\n[Y/n] `,
    settings.io,
  );
  if (answer === undefined || /^n/i.test(answer)) return result;
  const passwd = await askHidden(`Password for ${target.user}@${target.id}: `, settings.io);
  const failure = await run.deployKey({ ...target, passwd });
  return failure
    ? {
        ...result,
        outcome: { kind: 'missing', failure },
        ret: failure.stdout || failure.stderr,
        retcode: failure.retcode,
      }
    : run.again({ ...target, passwd: '' }, job);
}

const isDenied = ({ outcome, ret }: SshResult): boolean =>
  outcome.kind === 'missing' && outcome.failure.code === 'ssh-refused' && isDict(ret);
