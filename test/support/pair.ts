// Two masters with one key, as operators make them: the second starts with the copied `pki` of the first.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { Deployment, type DeploymentOptions, halite, type Implementation } from './deployment.ts';

export class Pair {
  readonly a: Deployment;
  readonly b: Deployment;

  private constructor(a: Deployment, b: Deployment) {
    this.a = a;
    this.b = b;
  }

  /** Both masters are started. */
  static async start(options: DeploymentOptions = {}): Promise<Pair> {
    const [a, b] = [await Deployment.create(options), await Deployment.create(options)];
    await a.startMaster();
    cpSync(a.path('etc/pki'), b.path('etc/pki'), { recursive: true });
    await b.startMaster();
    return new Pair(a, b);
  }

  get both(): readonly [Deployment, Deployment] {
    return [this.a, this.b];
  }

  /** As minions name them. */
  get addresses(): readonly string[] {
    return this.both.map(({ ports }) => `127.0.0.1:${ports.requests}`);
  }

  /** A minion of both masters; its folder is that of the first one. */
  startMinion(id: string, implementation: Implementation = halite, extra: readonly string[] = []): void {
    const folder = this.a.path(id, 'etc/minion.d');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      `${folder}/pair.conf`,
      [`master: [${this.addresses.map((each) => `'${each}'`).join(', ')}]`, ...extra, ''].join('\n'),
    );
    this.a.startMinion(id, implementation);
  }

  async answering(...ids: string[]): Promise<void> {
    await this.a.answering(...ids);
    await this.b.answering(...ids);
  }

  async destroy(): Promise<void> {
    await this.a.destroy();
    await this.b.destroy();
  }
}
