import type { VerifyMeans } from '../../doctor/report/verify-command.ts';
import { programName } from '../program-name.ts';
import type { DoctorCommandOptions } from './doctor-options.ts';

/** Sections that log in, and take what a login takes. */
const ofLogins = ['registration', 'login', 'token', 'proxy'];

function argument(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [name, String(value)];
}

/**
 * How the commands that look at a finding again are written: with the options that its check was given.
 * @param options what was given on the command line
 */
export function verifyMeans(options: DoctorCommandOptions): VerifyMeans {
  const timeout = argument('--timeout', options.timeout);
  const callbackPort = argument('--callback-port', options.callbackPort);
  const ofLogin = [
    ...callbackPort,
    ...argument('--client-id', options.clientId),
    ...argument('--client-metadata-url', options.clientMetadataUrl),
    ...argument('--client-name', options.clientName),
    ...argument('--other-resource', options.otherResource),
    ...argument('--store', options.store),
    ...(options.browser === false ? ['--no-browser'] : []),
    ...(options.paste ? ['--paste'] : []),
  ];
  return {
    program: programName,
    active: options.active ?? false,
    given: (section) => [
      ...timeout,
      ...(section === 'machine' ? callbackPort : []),
      ...(ofLogins.includes(section) ? ofLogin : []),
      ...(section === 'proxy' ? argument('--idle-seconds', options.idleSeconds) : []),
    ],
  };
}
