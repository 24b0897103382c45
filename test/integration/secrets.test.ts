// Secrets through real daemons: links in configuration files, pillar and functions with tokens of the master.
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { rootToken, startVaultLike, type VaultLike } from '../support/servers/vault-like.ts';

let site: Deployment;
let vault: VaultLike;

beforeAll(async () => {
  vault = await startVaultLike();
  vault.versioned.set('secret/minions/web1', [{ password: 'from-vault' }]);
  vault.plain.set('kv/shared', { key: 'shared-key' });
  site = await Deployment.create({
    masterConfig: [
      'files: {driver: yaml, files: [{root}/secrets.yaml]}',
      `vault: {url: "${vault.url}", auth: {method: token, token: "sdb://files/vault:token"}, policies: ["minion/{minion}"]}`,
      'peer_run: {".*": [vault.generate_token]}',
      'ext_pillar: [{vault: {conf: "path=secret/minions/{minion}", nesting_key: vaulted}}]',
      '',
    ]
      .join('\n')
      .replaceAll('{root}', '@ROOT@'),
  });
  const config = `${site.masterConfigDir}/master`;
  const { readFileSync } = await import('node:fs');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('@ROOT@', site.path('')));
  writeFileSync(site.path('secrets.yaml'), `vault: {token: ${rootToken}}\n`);
  mkdirSync(site.path('srv/pillar'), { recursive: true });
  writeFileSync(site.path('srv/pillar/top.sls'), "base: {'*': [s]}\n");
  writeFileSync(
    site.path('srv/pillar/s.sls'),
    "shared: {{ salt['vault.read_secret']('kv/shared', 'key') }}\nlinked: {{ salt['sdb.get']('sdb://files/vault:token') }}\n",
  );
  await site.startMaster();
  site.startMinion('web1');
  await site.answering('web1');
});
afterAll(async () => {
  await site?.destroy();
  await vault?.stop();
});

describe('secrets', () => {
  it('reach the pillar with a token of the minion’s policies', async () => {
    const wanted = { shared: 'shared-key', linked: rootToken, vaulted: { password: 'from-vault' } };
    expect(await site.json('web1', 'pillar.items')).toEqual({ web1: wanted });
    expect(vault.made.every((token) => token.policies.join() === 'minion/web1')).toBe(true);
    expect(vault.made.every((token) => token.meta['saltstack-minion'] === 'web1')).toBe(true);
  });
  it('are read by a minion that the master gives a token', async () => {
    const before = vault.made.length;
    expect(await site.json('web1', 'vault.read_secret', 'secret/minions/web1', 'password')).toEqual({
      web1: 'from-vault',
    });
    // One for the question where it lies, one for the secret: they are good for one request each.
    expect(vault.made.length).toBe(before + 2);
  });
  it('are available to runners, by the profiles of the master', async () => {
    const { stdout } = await site.run('salt-run', ['sdb.get', 'sdb://files/vault:token', '--out=json']);
    expect(JSON.parse(stdout)).toBe(rootToken);
    const policies = await site.run('salt-run', ['vault.show_policies', 'web1', '--out=json']);
    expect(JSON.parse(policies.stdout)).toEqual(['minion/web1']);
  });
  it('replace references in a minion’s own configuration', async () => {
    const config = site.configureMinion(
      'alone',
      `file_client: local\nfiles: {driver: yaml, files: [${site.path('secrets.yaml')}]}\nown: sdb://files/name\n`,
    );
    writeFileSync(site.path('secrets.yaml'), `vault: {token: ${rootToken}}\nname: linked-value\n`);
    const { stdout } = await site.run('salt-call', ['-c', config, '--local', 'config.option', 'own', '--out=json']);
    expect(JSON.parse(stdout)).toEqual({ local: 'linked-value' });
  });
});
