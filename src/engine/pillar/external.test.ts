// External pillars that need more than a recorded tree: git, web servers, nodegroups, sources of users.
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { pyRepr } from '../../base/codec/python/index.ts';
import { dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { compilePillar } from './compile.ts';
import { createProcessHost } from './process-host.ts';
import { PillarTree } from './testing.ts';

let tree: PillarTree;
beforeEach(() => {
  tree = new PillarTree().write({ 'pillar/top.sls': "base:\n  '*':\n    - a\n", 'pillar/a.sls': 'own: 1\n' });
});
afterEach(() => tree.remove());

const options = (values: Record<string, Value>): PlainDict => newDict(Object.entries(values));
const external = (name: string, settings: Value, more: Record<string, Value> = {}): void => {
  tree.opts = options({ ext_pillar: [dictOf([[name, settings]]) as PlainDict], ...more });
};

describe('git', () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', join(tree.root, 'repo'), '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      encoding: 'utf8',
    });
  const commit = (files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(tree.root, 'repo', name, '..'), { recursive: true });
      writeFileSync(join(tree.root, 'repo', name), text);
    }
    git('add', '-A');
    git('commit', '-qm', 'x');
  };
  const url = (): string => join(tree.root, 'repo');
  beforeEach(() => {
    mkdirSync(url());
    execFileSync('git', ['init', '-q', '-b', 'master', url()]);
    commit({ 'top.sls': "base:\n  '*':\n    - g\n", 'g.sls': 'from: git\nid: {{ grains.id }}\n' });
  });

  it('compiles a branch by its own top file', async () => {
    external('git', [`master ${url()}`]);
    expect(pyRepr(await tree.compile())).toBe("{'own': 1, 'from': 'git', 'id': 'web1.example.com'}");
  });
  it('is explained by its files', async () => {
    external('git', [`master ${url()}`]);
    const told = JSON.stringify(await tree.explain('from'));
    expect(told).toMatch(
      /"given_by":\{"source":"git: g","saltenv":"base","file":"[^"]+\/g.sls","line":1,"text":"from: git"/,
    );
  });
  it('maps branches to environments, by name or as configured', async () => {
    git('checkout', '-qb', 'dev');
    commit({ 'top.sls': "dev:\n  '*':\n    - g\nprod:\n  '*':\n    - g\n", 'g.sls': 'from: dev branch\n' });
    external('git', [`dev ${url()}`]);
    expect(pyRepr(await tree.compile({ pillarenv: 'dev' }))).toBe("{'from': 'dev branch'}");
    external('git', [options({ [`dev ${url()}`]: [options({ env: 'prod' })] })]);
    expect(pyRepr(await tree.compile({ pillarenv: 'prod' }))).toBe("{'from': 'dev branch'}");
    external('git', [`__env__ ${url()}`]);
    commit({ 'top.sls': "dev:\n  '*':\n    - g\n" });
    expect(pyRepr(await tree.compile({ saltenv: 'dev' }))).toBe("{'own': 1, 'from': 'dev branch'}");
    expect(pyRepr(await tree.compile())).toBe("{'own': 1, 'from': 'git', 'id': 'web1.example.com'}");
  });
  it('reads a folder inside the repository, and mounts another one', async () => {
    commit({ 'sub/top.sls': "base:\n  '*':\n    - web.server\n", 'parts/server.sls': 'mounted: 1\n' });
    const root = options({ [`master ${url()}`]: [options({ root: 'sub' }), options({ name: 'one' })] });
    const parts = [options({ root: 'parts' }), options({ mountpoint: 'salt://web/' }), options({ name: 'two' })];
    external('git', [root, options({ [`master ${url()}`]: parts })]);
    expect(pyRepr(await tree.compile())).toBe("{'own': 1, 'mounted': 1}");
  });
  it('reports when a branch does not exist, and falls back if configured', async () => {
    external('git', [`nosuch ${url()}`]);
    expect(pyRepr(await tree.compile())).toBe("{'own': 1}");
    expect(tree.logged.join('\n')).toContain('Failed to checkout nosuch');
    external('git', [options({ [`__env__ ${url()}`]: [options({ fallback: 'master' })] })]);
    tree.write({ 'pillar/top.sls': '{}' });
    const fallback = await tree.compile({ saltenv: 'qa' });
    expect(pyRepr(fallback)).toBe('{}');
  });
  it('sees new commits after the interval, and continues when the remote is unreachable', async () => {
    external('git', [`master ${url()}`], { git_pillar_update_interval: 0 });
    const opts = tree.allOpts();
    const process = createProcessHost(opts, {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (text) => tree.logged.push(text),
    });
    const compile = async (): Promise<string> => pyRepr(await compilePillar(process.host(), opts, tree.request()));
    expect(await compile()).toContain("'from': 'git'");
    commit({ 'g.sls': 'from: newer\n' });
    await eventually('the new commit to be seen', async () => (await compile()).includes("'from': 'newer'"));
    renameSync(url(), `${url()}.away`);
    await eventually('the failed fetch to be reported', async () => {
      expect(await compile()).toContain("'from': 'newer'");
      return tree.logged.some((text) => text.includes('cannot be fetched'));
    });
  });
  it('reports a repository that was never reachable', async () => {
    external('git', [`master ${join(tree.root, 'none')}`]);
    expect(pyRepr(await tree.compile())).toContain('Failed to load ext_pillar git: git fetch');
    external('git', ['master ext::sh -c touch% evil']);
    expect(pyRepr(await tree.compile())).toContain('is not the address of a repository');
  });
});

describe('http', () => {
  let server: Server;
  const asked: string[] = [];
  const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  beforeEach(async () => {
    asked.length = 0;
    server = createServer((request, reply) => {
      asked.push(`${request.url} ${request.headers.authorization ?? ''} ${request.headers['x-a'] ?? ''}`.trim());
      if (request.url === '/broken') reply.end('{');
      else if (request.url === '/gone') reply.writeHead(404).end('no');
      else if (request.url === '/moved') reply.writeHead(302, { location: '/json' }).end();
      else reply.end(request.url?.startsWith('/json') ? '{"j": 1.0}' : 'y: 2\n');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterEach(() => new Promise((done) => server.close(done)));

  it('inserts the id and grains, and sends what is configured', async () => {
    external(
      'http_yaml',
      options({
        url: url('/yaml/%s?os=<os:name>'),
        with_grains: true,
        username: 'u',
        password: 'p',
        header_dict: options({ 'X-A': 'b' }),
      }),
    );
    const grains = options({ id: 'web1.example.com', os: options({ name: 'Debian 12' }) });
    expect(pyRepr(await tree.compile({ grains }))).toBe("{'own': 1, 'y': 2}");
    expect(asked).toEqual(['/yaml/web1.example.com?os=Debian%2012 Basic dTpw b']);
  });
  it('puts JSON under a key', async () => {
    external('http_json', options({ url: url('/json'), namespace: 'under' }));
    expect(pyRepr(await tree.compile())).toBe("{'own': 1, 'under': {'j': 1.0}}");
  });
  it('goes where the server sends it', async () => {
    external('http_json', options({ url: url('/moved'), username: 'u', password: 'p' }));
    expect(pyRepr(await tree.compile())).toBe("{'own': 1, 'j': 1.0}");
    expect(asked).toEqual(['/moved Basic dTpw', '/json Basic dTpw']);
  });
  it('keeps a password of the address out of the log', async () => {
    external('http_json', url('/gone').replace('//', '//ann:hidden@'));
    expect(pyRepr(await tree.compile())).toBe("{'own': 1}");
    expect(asked).toEqual(['/gone Basic YW5uOmhpZGRlbg==']);
    expect(JSON.stringify(tree.logged)).toContain('answered 404');
    expect(JSON.stringify(tree.logged)).not.toContain('hidden');
  });
  it.each(['/broken', '/gone'])('adds nothing when %s is the answer', async (path) => {
    external('http_json', url(path));
    expect(pyRepr(await tree.compile())).toBe("{'own': 1}");
    expect(tree.logged).not.toHaveLength(0);
  });
  it('does not request a path that a grain makes leave its folder', async () => {
    external('http_yaml', options({ url: url('/hosts/<role>/data'), with_grains: true }));
    for (const role of ['..', '../../admin', 'a/./b', 'a/../../admin'])
      expect(pyRepr(await tree.compile({ grains: options({ id: 'web1.example.com', role }) }))).toBe("{'own': 1}");
    expect(asked).toEqual([]);
  });
  it('does not send a request without the grain it needs', async () => {
    external('http_yaml', options({ url: url('/<nothing>'), with_grains: true }));
    expect(pyRepr(await tree.compile())).toBe("{'own': 1}");
    expect(asked).toEqual([]);
  });
});

describe('others', () => {
  it('lists nodegroups and reads their folders', async () => {
    const nodegroups = options({ webs: 'web* and G@os:Debian', dbs: 'db*', both: 'N@webs or N@dbs' });
    const grains = options({ id: 'web1.example.com', os: 'Debian' });
    external('nodegroups', options({ pillar_name: 'ng' }), { nodegroups });
    expect(pyRepr(await tree.compile({ grains }))).toBe("{'own': 1, 'ng': ['webs', 'both']}");
    tree.write({
      'tree/nodegroups/webs/motd': 'group\n',
      'tree/nodegroups/dbs/x': 'no\n',
      'tree/hosts/web1.example.com/motd': 'host\n',
    });
    external('file_tree', options({ root_dir: '<ROOT>/tree' }), { nodegroups });
    expect(pyRepr(await tree.compile({ grains }))).toBe("{'own': 1, 'motd': b'host'}");
    rmSync(join(tree.root, 'tree/hosts'), { recursive: true });
    expect(pyRepr(await tree.compile({ grains }))).toBe("{'own': 1, 'motd': b'group'}");
  });
  it('does not let an id name another folder', async () => {
    tree.write({ 'tree/hosts/web/x': '1\n', 'tree/secret': 's\n' });
    external('file_tree', options({ root_dir: '<ROOT>/tree' }));
    expect(pyRepr(await tree.compile({ minionId: '..' }))).toBe("{'own': 1}");
    expect(pyRepr(await tree.compile({ minionId: '../../pillar' }))).toBe("{'own': 1}");
  });
  it('runs a source of users, with parameters bound as for all functions', async () => {
    tree.write({
      'ext/pillar/mine.mjs': `export default { kind: 'pillars', name: 'mine', doc: 'x',
        params: { word: { kind: 'string', doc: '', required: true, default: null, aliases: [] } },
        compile: async ({ word }, ctx) => ({ said: word, of: ctx.minionId, so_far: Object.keys(ctx.pillar), ping: await ctx.call('test.ping') }) };`,
    });
    external('mine', 'hello', { extension_modules: '<ROOT>/ext' });
    expect(pyRepr(await tree.compile())).toBe(
      "{'own': 1, 'said': 'hello', 'of': 'web1.example.com', 'so_far': ['own'], 'ping': True}",
    );
    external('mine', options({ wrong: 1 }), { extension_modules: '<ROOT>/ext' });
    expect(pyRepr(await tree.compile())).toContain(
      "Failed to load ext_pillar mine: ext_pillar() got an unexpected keyword argument 'wrong'",
    );
  });
  it('runs sources on request only when allowed', async () => {
    const ext = options({ cmd_yaml: "echo 'asked: 1'" });
    expect(pyRepr(await tree.compile({ ext }))).toBe("{'own': 1}");
    tree.opts = options({ on_demand_ext_pillar: ['cmd_yaml'] });
    expect(pyRepr(await tree.compile({ ext }))).toBe("{'own': 1, 'asked': 1}");
  });
  it('does not pass unsafe ids to commands', async () => {
    external('cmd_yaml', "echo 'x: %s'");
    expect(pyRepr(await tree.compile({ minionId: "a';touch x;'" }))).toContain('cannot be part of a command');
  });
});
