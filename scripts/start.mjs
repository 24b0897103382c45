// `npm start`: a playground in .halite/. `npm start -- cluster`: several masters that work as one.
import { buildWhenNeeded, installDependencies } from './setup.mjs';
import { say } from './start/playground.mjs';

const kinds = {
  single: async () => (await import('./start/single.mjs')).startSingle(),
  cluster: async () => (await import('./start/cluster.mjs')).startCluster(),
};
const [kind = 'single', ...rest] = process.argv.slice(2);
if (!Object.hasOwn(kinds, kind) || rest.length > 0) {
  console.error(`no such playground: ${process.argv.slice(2).join(' ')}. Use: npm start, or: npm start -- cluster`);
  process.exit(64);
}
installDependencies(say);
buildWhenNeeded(say);
await kinds[kind]();
