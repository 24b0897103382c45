// State module `apache_conf`: pieces of configuration of Apache, on or off.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_conf',
  doc: 'Chunks of configuration of Apache, on or off.',
  available: needsFunction('apache.a2enconf', 'apache module could not be loaded'),
  functions: switches('conf'),
});
