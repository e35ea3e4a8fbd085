import { type Database, insertApiKey, revokeApiKey } from '@vat/db';
import { issueKey, MAX_KEYS, publicId, uuidOf } from '@vat/domain';
import type { Commands } from '../command.js';
import { UsageError } from '../command.js';
import { accountIdOf } from './accounts.js';

/** key create|revoke. */
export const keyCommands = (db: Database, now: () => Date): Commands => ({
  'key create ACCOUNT [--test] [--name N]': async ({ positionals: [account], flags }) => {
    const { key, stored } = issueKey(
      typeof flags.name === 'string' ? flags.name : 'Made by the operator',
      flags.test === true,
    );
    const inserted = await insertApiKey(db)(accountIdOf(account), stored, now(), MAX_KEYS);
    if (!inserted)
      throw new UsageError(`There is no account ${account}, or it was erased or has ${MAX_KEYS} keys already.`);
    return { key_id: publicId('key', stored.id), key };
  },
  'key revoke KEY_ID': async ({ positionals: [id = ''] }) => {
    const uuid = uuidOf('key', id);
    const at = now();
    if (uuid === null || !(await revokeApiKey(db)(uuid, at)))
      throw new UsageError(`There is no key ${id || 'without an id'}; name it key_….`);
    return { key_id: id, revoked: true };
  },
});
