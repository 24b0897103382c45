// State module `apache_module`: modules of Apache, on or off.
import { defineState } from 'halite/sdk';
import { needsFunction } from '../../modules/support/needs.ts';
import { switches } from '../support/apache.ts';

export default defineState({
  name: 'apache_module',
  doc: 'Modules of Apache, on or off.',
  available: needsFunction('apache.a2enmod', 'apache module could not be loaded'),
  functions: switches('module'),
});
