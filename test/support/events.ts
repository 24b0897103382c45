// Listens to a master's event bus with `salt-run state.event`, which Halite and Salt both have.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Deployment, halite, type Implementation } from './deployment.ts';
import { eventually } from './eventually.ts';

export type EventData = Record<string, unknown>;

export class EventListener {
  readonly #child: ChildProcess;
  #events: { readonly tag: string; readonly data: EventData }[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
  }

  /** Resolves when events are heard: one of our own is sent until it comes back. */
  static async start(deployment: Deployment, implementation: Implementation = halite): Promise<EventListener> {
    const command = join(implementation.bin, 'salt-run');
    const child = spawn(command, ['-c', deployment.masterConfigDir, 'state.event', 'quiet=False', '--out=quiet'], {
      env: { ...process.env, NO_COLOR: '1', PYTHONUNBUFFERED: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
      // Salt's runner forks: all of it ends together.
      detached: true,
    });
    const listener = new EventListener(child);
    await eventually(
      'events to be heard',
      async () => {
        // Any command makes the master fire an event.
        await deployment.run('salt-run', ['jobs.active', '--out=quiet']);
        return listener.#events.length > 0;
      },
      { timeoutMs: 120_000 },
    );
    return listener;
  }

  #take(line: string): void {
    const at = line.indexOf('\t');
    if (at <= 0) return;
    try {
      this.#events.push({ tag: line.slice(0, at), data: JSON.parse(line.slice(at + 1)) as EventData });
    } catch {
      // A line of a pretty-printed answer.
    }
  }

  /** All that was heard with a tag. */
  seen(tag: string): EventData[] {
    return this.#events.filter((event) => event.tag === tag).map(({ data }) => data);
  }

  /** The tags that were heard, in order, each once. */
  tags(): string[] {
    return [...new Set(this.#events.map(({ tag }) => tag))];
  }

  forget(): void {
    this.#events = [];
  }

  /** An event with this tag, heard already or to come. */
  async next(tag: string, accept: (data: EventData) => boolean = () => true): Promise<EventData> {
    await eventually(`the event ${tag}`, () => this.seen(tag).some(accept), {
      timeoutMs: 120_000,
      describe: () => `heard: ${this.tags().join(' ').slice(-2000)}`,
    });
    return this.seen(tag).find(accept) as EventData;
  }

  stop(): void {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}
