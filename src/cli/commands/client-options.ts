import type { Command } from 'commander';
import type { InstallationOptions } from '../open-administration.ts';

/** Options that every command of an operator about clients has. */
export interface ClientOptions extends InstallationOptions {
  json?: boolean;
}

/** Adds a command below `gatehouse client`. */
export type AddClientCommand = (name: string, description: string) => Command;
