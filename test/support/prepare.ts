// Items of the preparation beyond the system's packages, in the order in which they are made; bundled by scripts/prepare/main.mjs.
import { disposableToolsItem } from './disposable-tools.ts';
import { oldPythonsItem } from './old-pythons.ts';
import { oldReleaseItems } from './old-releases.ts';
import { pepperItems } from './pepper.ts';
import type { Item } from './prepared.ts';
import { saltItems } from './salt-release.ts';
import { schemathesisItem } from './schemathesis.ts';
import { natsItem } from './servers/nats.ts';
import { oidcProviderItem } from './servers/oidc.ts';
import { pouchDbItem } from './servers/pouchdb.ts';

export const items: readonly Item[] = [
  disposableToolsItem,
  pouchDbItem,
  oidcProviderItem,
  natsItem,
  schemathesisItem,
  ...saltItems,
  ...pepperItems,
  oldPythonsItem,
  ...oldReleaseItems,
];
