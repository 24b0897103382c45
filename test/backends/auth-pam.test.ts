// PAM of a disposable Debian with accounts of its own: passwords, groups, locked and expired accounts, and a whole master.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite } from '../support/deployment.ts';
import { DisposableSystem, disposableObstacle, type RanInside } from '../support/disposable.ts';
import { eventually } from '../support/eventually.ts';
import { isMissing } from '../support/prepared.ts';

const master = `
user: root
interface: 127.0.0.1
log_file: /var/log/master
auth.pam.service: halite
external_auth:
  pam:
    kim: ['@jobs', {'@runner': [test.arg]}]
    staffers%: [{'@runner': [test.raw_arg]}]
    '*': []
`;
const setUp = `set -e
groupadd staffers
for name in kim lea locked expired; do useradd -m "$name"; echo "$name:pw of $name" | chpasswd; done
useradd -o -u 0 -m other-root; echo "other-root:pw of other-root" | chpasswd
usermod -aG staffers lea
usermod -L locked
chage -E 1 expired
echo 'root:pw of root' | chpasswd
`;

const obstacle = disposableObstacle();
if (obstacle) isMissing(`disposable system (${obstacle})`);

describe.skipIf(obstacle !== undefined)('PAM', () => {
  let system: DisposableSystem;
  beforeAll(async () => {
    system = await DisposableSystem.create();
    system.write({
      '/etc/salt/master': master,
      // Refusals are delayed by the master itself.
      '/etc/pam.d/halite': 'auth required pam_unix.so nodelay\naccount required pam_unix.so\n',
    });
    const made = await system.run(['sh', '-c', setUp]);
    if (made.status !== 0) throw new Error(made.stderr);
    const started = await system.run([`${halite.bin}/salt-master`, '-d']);
    if (started.status !== 0) throw new Error(`${started.stdout}${started.stderr}`);
    await eventually(
      'the master to listen',
      async () => (await system.run(['test', '-S', '/var/run/salt/master/halite.ipc'])).status === 0,
    );
  });
  afterAll(() => system?.destroy());

  const run = (name: string, password: string, fun = 'test.arg'): Promise<RanInside> => {
    const who = ['-a', 'pam', '--username', name];
    return system.run([
      'env',
      `SALT_EAUTH_PASSWORD=${password}`,
      `${halite.bin}/salt-run`,
      ...who,
      fun,
      'x',
      '--out=json',
    ]);
  };

  it('accepts the password of an account, and knows its groups', async () => {
    expect(await run('kim', 'pw of kim')).toMatchObject({ status: 0 });
    expect(await run('lea', 'pw of lea', 'test.raw_arg')).toMatchObject({ status: 0 });
    expect((await run('kim', 'pw of kim', 'test.raw_arg')).status).toBe(77);
    expect((await run('lea', 'pw of lea')).status).toBe(77);
  });

  it.each([
    ['a wrong password', 'kim', 'pw of lea'],
    ['no such account', 'nobody-here', 'x'],
    ['a locked account', 'locked', 'pw of locked'],
    ['an expired account', 'expired', 'pw of expired'],
    ['root', 'root', 'pw of root'],
    ['another name of root', 'other-root', 'pw of other-root'],
    ['an option as a name', '--help', 'x'],
    ['a path as a name', '../kim', 'pw of kim'],
  ])('refuses %s', async (_, name, password) => {
    const { status, stderr } = await run(name, password);
    expect(stderr).toContain(`Authentication failure of type "eauth" occurred for user ${name}.`);
    expect(status).toBe(2);
  });

  it('shows no password to others', async () => {
    const log = await system.run(['cat', '/var/log/master']);
    expect(log.stdout).toContain('login refused');
    expect(log.stdout).not.toMatch(/pw of/);
  });
});
