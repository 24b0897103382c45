// Findings of the doctor, with the command that repairs them.
import type { Finding } from '../api/operations.ts';
import { word } from '../text/text.ts';
import { Badge, CommandLine } from './basics.tsx';
import { Icon } from './icons.tsx';

const tones: Readonly<Record<string, string>> = { problem: 'bad', warning: 'warn', fine: 'good' };

/** What can be typed on the master as it stands. */
const isCommand = (repair: string): boolean => /^(salt|halite|systemctl)[\w-]* [^:;]*$/.test(repair);

export function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={finding.text}>
          <Badge tone={tones[finding.level] ?? 'plain'}>{word('level', finding.level)}</Badge>
          <div>
            <p>{finding.text}</p>
            {finding.repair !== '' &&
              (isCommand(finding.repair) ? (
                <CommandLine text={finding.repair} />
              ) : (
                <p class="repair">
                  <Icon name="right" />
                  <span>{finding.repair}</span>
                </p>
              ))}
          </div>
        </li>
      ))}
    </ul>
  );
}
