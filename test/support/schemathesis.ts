// schemathesis from PyPI: it reads an OpenAPI document and sends what the document permits, and what it does not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, testCache } from './build-once.ts';
import { type Item, isMissing } from './prepared.ts';

const version = '4.32.5';
const name = `schemathesis ${version}`;
const folder = join(testCache, `schemathesis-${version}`);
const isThere = (): boolean => existsSync(join(folder, '.complete'));

/** The program; undefined, with the reason on the screen, when it was not prepared. */
export const schemathesis = (): string | undefined => (isThere() ? join(folder, 'bin/schemathesis') : isMissing(name));

export const schemathesisItem: Item = {
  ...{ name, tiers: ['integration'], need: 'required', isThere },
  make: () =>
    buildOnce(folder, [
      ['python3', '-m', 'venv', folder],
      [join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`],
      [join(folder, 'bin/schemathesis'), '--version'],
    ]),
};
