// State module `apache_site`: sites of Apache, on or off.
import { defineState } from 'halite/sdk';
import { switches } from './support/apache.ts';

export default defineState({
  name: 'apache_site',
  doc: 'Sites of Apache, on or off.',
  functions: switches('site'),
});
