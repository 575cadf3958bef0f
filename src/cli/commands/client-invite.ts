import { withAdministration } from '../open-administration.ts';
import { type CommandIo, formatJson } from '../output.ts';
import { loadSettingsReader } from '../settings-on-demand.ts';
import { parseWhole } from '../whole-number.ts';
import type { AddClientCommand, ClientOptions } from './client-options.ts';

interface InviteOptions extends ClientOptions {
  uses: number;
  days: number;
}

const daySeconds = 86_400;

/** Registers `gatehouse client invite`, which prints an initial access token once (RFC 7591 section 3). */
export function registerClientInvite(command: AddClientCommand, io: CommandIo): void {
  command('invite', 'make an initial access token, with which clients can register; it is shown once')
    .option('--uses <n>', 'how many clients can be registered with it', parseWhole(1, 10_000), 1)
    .option('--days <n>', 'how long it is good', parseWhole(1, 365), 7)
    .action(async ({ uses, days, ...options }: InviteOptions) => {
      const { loadSome } = await loadSettingsReader();
      const { registration } = loadSome(options.config, ['clients']).clients;
      const invitation = await withAdministration(options, false, ({ clients }) =>
        clients.invite({ uses, lifeSeconds: days * daySeconds }),
      );
      const until = new Date(invitation.expiresAt * 1000).toISOString();
      io.stdout.write(options.json ? formatJson(invitation) : `${invitation.token}\n`);
      if (!options.json)
        io.stderr.write(
          `Shown once. For ${uses} client${uses === 1 ? '' : 's'}, until ${until}. Clients send it as Authorization: Bearer to /register.\n`,
        );
      if (registration !== 'initial_access_token')
        io.stderr.write(
          `It is of no use while clients.registration is ${registration}: only initial_access_token asks for one.\n`,
        );
    });
}
