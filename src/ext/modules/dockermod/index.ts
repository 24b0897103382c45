// Execution module `docker`: containers, images, networks and volumes, through the docker client.
import { defineModule, fn, newDict } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { which } from 'halite/sdk/system';
import { docker, plainOf } from './cli.ts';
import { containerFunctions } from './containers.ts';
import { imageFunctions } from './images.ts';
import { networkFunctions, registryFunctions, volumeFunctions } from './others.ts';

export default defineModule({
  name: 'dockermod',
  virtualName: 'docker',
  doc: 'Containers, images, networks and volumes, with the docker client.',
  available: () => which('docker') !== null || 'The docker command could not be found',
  reads: [
    'ps',
    'list_containers',
    'inspect_container',
    'exists',
    'state',
    'pid',
    'logs',
    'diff',
    'compare_containers',
    'images',
    'list_tags',
    'inspect_image',
    'resolve_image_id',
    'resolve_tag',
    'networks',
    'inspect_network',
    'connected',
    'volumes',
    'inspect_volume',
    'info',
    'version',
  ],
  functions: {
    ...containerFunctions,
    ...imageFunctions,
    ...networkFunctions,
    ...volumeFunctions,
    ...registryFunctions,
    info: fn({
      doc: 'Information about Docker.',
      examples: ['salt myminion docker.info'],
      params: {},
      run: async (_args, ctx) => loadJson(await docker(['info', '--format', '{{json .}}'], ctx)),
    }),
    version: fn({
      doc: 'The version of Docker.',
      examples: ['salt myminion docker.version'],
      params: {},
      async run(_args, ctx) {
        const all = plainOf(loadJson(await docker(['version', '--format', '{{json .Server}}'], ctx)));
        const numbers = String(all['Version'] ?? '')
          .split('.')
          .map(Number);
        return newDict([...Object.entries(all), ['VersionInfo', numbers]]);
      },
    }),
  },
});
