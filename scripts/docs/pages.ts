// Every page of docs/ that is generated from the code, and the check that each is up to date.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderOptionsPage } from '../../src/base/config/docs.ts';
import { architecturePage, renderArchitecturePage } from './architecture-page.ts';
import { renderErrorsPage } from './errors-page.ts';
import { renderSdkPage } from './sdk-page.ts';

/** Path → text. */
export function generatedPages(root: string): Readonly<Record<string, string>> {
  const architecture = renderArchitecturePage(root);
  return {
    ...(architecture === undefined ? {} : { [architecturePage]: architecture }),
    'docs/reference/master-options.md': renderOptionsPage('master'),
    'docs/reference/minion-options.md': renderOptionsPage('minion'),
    'docs/reference/errors.md': renderErrorsPage(root),
    'docs/reference/sdk.md': renderSdkPage(root),
  };
}

export function findStalePages(root: string): string[] {
  return Object.entries(generatedPages(root))
    .filter(([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text)
    .map(([path]) => `${path}: is out of date; run npm run docs`);
}
