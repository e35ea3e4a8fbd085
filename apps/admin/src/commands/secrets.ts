import { type Database, sealedDevelopmentKey, sealedPublicLinkKey, sealedWebhooks } from '@vat/db';
import { PUBLIC_LINK_SEAL, publicId, resealSecrets } from '@vat/domain';
import { readSettings } from '@vat/runtime';
import type { Commands } from '../command.js';
import { UsageError } from '../command.js';

/** Maximum number of secrets that an error message lists. */
const MAX_NAMED = 5;

/** secrets reseal. */
export const secretCommands = (db: Database, env: NodeJS.ProcessEnv): Commands => ({
  'secrets reseal': async () => {
    const settings = readSettings(env, 'admin', ['SECRET_KEY', 'SECRET_KEY_PREVIOUS']);
    if (settings.SECRET_KEY === settings.SECRET_KEY_PREVIOUS)
      throw new UsageError(
        'SECRET_KEY and SECRET_KEY_PREVIOUS are the same. Set SECRET_KEY to the key that the service uses now.',
      );
    const keys = { masterKey: settings.SECRET_KEY, previousKey: settings.SECRET_KEY_PREVIOUS };
    const webhooks = await resealSecrets({ ...keys, purpose: 'webhook secret' }, sealedWebhooks(db));
    const authority = await resealSecrets({ ...keys, purpose: 'development authority' }, sealedDevelopmentKey(db));
    const { purpose } = PUBLIC_LINK_SEAL;
    const links = await resealSecrets({ ...keys, purpose }, sealedPublicLinkKey(db));
    const resealed = webhooks.resealed + authority.resealed + links.resealed;
    const unopened = [
      // First, so that a list that is cut off names it: without it no public link opens.
      ...links.unopened.map(() => `the ${purpose}`),
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
