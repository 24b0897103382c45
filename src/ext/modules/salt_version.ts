// Execution module `salt_version`: compares the Salt release of this minion with named releases.
import { defineModule, fn, p, saltCompatVersion } from 'halite/sdk';

/** Release names (chemical elements) in order; the first nine releases have dates as numbers, later ones count from 3000. */
const dated = new Map(
  Object.entries({
    hydrogen: '2014.1',
    helium: '2014.7',
    lithium: '2015.5',
    beryllium: '2015.8',
    boron: '2016.3',
    carbon: '2016.11',
    nitrogen: '2017.7',
    oxygen: '2018.3',
    fluorine: '2019.2',
  }),
);
const counted = [
  'neon sodium magnesium aluminium silicon phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium',
  'chromium manganese iron cobalt nickel copper zinc gallium germanium arsenic selenium bromine krypton rubidium strontium',
  'yttrium zirconium niobium molybdenum technetium ruthenium rhodium palladium silver cadmium indium tin antimony tellurium',
  'iodine xenon cesium barium lanthanum cerium praseodymium neodymium promethium samarium europium gadolinium terbium',
  'dysprosium holmium erbium thulium ytterbium lutetium hafnium tantalum tungsten rhenium osmium iridium platinum gold',
  'mercury thallium lead bismuth polonium astatine radon francium radium actinium thorium protactinium uranium neptunium',
  'plutonium americium curium berkelium californium einsteinium fermium mendelevium nobelium lawrencium rutherfordium',
  'dubnium seaborgium bohrium hassium meitnerium darmstadtium roentgenium copernicium nihonium flerovium moscovium',
  'livermorium tennessine oganesson',
]
  .join(' ')
  .split(' ');

/** The number of a release by name, or null. */
function numberOf(name: string): string | null {
  const wanted = name.toLowerCase();
  const at = counted.indexOf(wanted);
  return at < 0 ? (dated.get(wanted) ?? null) : String(3000 + at);
}

/** Negative, zero or positive: this release is older than, the same as, or newer than the named one. */
function compared(name: string): number | undefined {
  const number = numberOf(name);
  if (number === null) return undefined;
  const own = saltCompatVersion.split('.')[0] ?? '';
  return Number(own) - Number(number.split('.')[0]);
}

const named = (doc: string, key: string, holds: (order: number) => boolean) =>
  fn({
    doc,
    examples: [`salt '*' salt_version.${key} 'Oxygen'`],
    params: { name: p.string({ doc: 'name of a release' }) },
    run({ name }) {
      const order = compared(name);
      return order !== undefined && holds(order);
    },
  });

export default defineModule({
  name: 'salt_version',
  doc: 'Compares the Salt release of this minion with named releases.',
  reads: ['get_release_number', 'equal', 'greater_than', 'less_than'],
  functions: {
    get_release_number: fn({
      doc: 'The number of a release by its name; None when there is none of that name.',
      examples: ["salt '*' salt_version.get_release_number 'Oxygen'"],
      params: { name: p.string({ doc: 'name of a release' }) },
      run: ({ name }) => numberOf(name),
    }),
    equal: named('Whether this is the release of that name.', 'equal', (order) => order === 0),
    greater_than: named(
      'Whether this release is newer than the one of that name.',
      'greater_than',
      (order) => order > 0,
    ),
    less_than: named('Whether this release is older than the one of that name.', 'less_than', (order) => order < 0),
  },
});
