import { type Database, sealedDevelopmentKey, sealedWebhooks } from '@vat/db';
import { publicId, resealSecrets } from '@vat/domain';
import { readSettings } from '@vat/runtime';
import type { Commands } from '../command.js';
import { UsageError } from '../command.js';

/** Maximum number of secrets that an error message lists. */
const MAX_NAMED = 5;

/** secrets reseal. */
export const secretCommands = (db: Database, env: NodeJS.ProcessEnv): Commands => ({
  'secrets reseal': async () => {
    const settings = readSettings(env, 'admin', ['SECRET_KEY', 'SECRET_KEY_PREVIOUS']);
    const keys = { masterKey: settings.SECRET_KEY, previousKey: settings.SECRET_KEY_PREVIOUS };
    const webhooks = await resealSecrets({ ...keys, purpose: 'webhook secret' }, sealedWebhooks(db));
    const authority = await resealSecrets({ ...keys, purpose: 'development authority' }, sealedDevelopmentKey(db));
    const resealed = webhooks.resealed + authority.resealed;
    const unopened = [
      ...webhooks.unopened.map((id) => `the webhook secret of ${publicId('account', id)}`),
      ...authority.unopened.map(() => 'the key of the development authority'),
    ];
    if (unopened.length > 0) {
      const named = unopened.slice(0, MAX_NAMED).join(', ');
      const more = unopened.length > MAX_NAMED ? ` and ${unopened.length - MAX_NAMED} more` : '';
      throw new UsageError(
        `Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens ${named}${more}. Resealed: ${resealed}. Set SECRET_KEY_PREVIOUS to the key that sealed them and run this again.`,
      );
    }
    return { resealed };
  },
});
