import { hexOf } from '../../proof/hex-of.js';

/** The two signatures of an attempt. Source: contract parts 1 §5 and 2 §8. */
export type Signatures = { service: string; standard: string };

type AttemptToSign = { secret: string; eventId: string; at: Date; body: string };

/** Computes them by Web Crypto. Rejects for a secret that is not `whsec_` and base64. */
export const signAttempt =
  (crypto: Crypto) =>
  async ({ secret, eventId, at, body }: AttemptToSign): Promise<Signatures> => {
    const text = new TextEncoder();
    const timestamp = Math.floor(at.getTime() / 1_000);
    const hmac = async (key: Uint8Array<ArrayBuffer>, message: string) => {
      const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      return new Uint8Array(await crypto.subtle.sign('HMAC', imported, text.encode(message)));
    };
    const standardKey = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0));
    const service = await hmac(text.encode(secret), `${timestamp}.${body}`);
    const standard = await hmac(standardKey, `${eventId}.${timestamp}.${body}`);
    return { service: `sha256=${hexOf(service)}`, standard: `v1,${btoa(String.fromCharCode(...standard))}` };
  };
