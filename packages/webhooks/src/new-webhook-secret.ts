import { randomBytes } from 'node:crypto';

/** A new signing secret: `whsec_` and 32 random bytes in base64 (50 characters). Source: contract part 2 §8. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
