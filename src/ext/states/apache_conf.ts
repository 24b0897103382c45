// State module `apache_conf`: pieces of configuration of Apache, on or off.
import { defineState } from 'halite/sdk';
import { switches } from './support/apache.ts';

export default defineState({
  name: 'apache_conf',
  doc: 'Pieces of configuration of Apache, on or off.',
  functions: switches('conf'),
});
