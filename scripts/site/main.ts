// The program behind `npm run site`.
import { resolve } from 'node:path';
import { makeSite, writeSite } from './build.ts';

/** The exit status. */
export async function run(root: string, args: readonly string[]): Promise<number> {
  const [folder = 'dist/site', ...more] = args;
  if (more.length > 0 || folder.startsWith('-')) {
    console.error('npm run site -- [folder]');
    return 64;
  }
  const site = await makeSite(root);
  writeSite(root, resolve(root, folder), site);
  for (const problem of site.problems) console.error(problem);
  const pages = [...site.files.keys()].filter((name) => name.endsWith('.html')).length;
  console.log(`wrote ${pages} pages to ${folder}; open ${folder}/index.html`);
  return site.problems.length === 0 ? 0 : 1;
}
