// State module `apache_module`: modules of Apache, on or off.
import { defineState } from 'halite/sdk';
import { switches } from './support/apache.ts';

export default defineState({
  name: 'apache_module',
  doc: 'Modules of Apache, on or off.',
  functions: switches('module'),
});
