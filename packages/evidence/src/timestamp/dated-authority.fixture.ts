import { createHash, type KeyObject } from 'node:crypto';
import { forgeReply } from './forge-reply.fixture.js';
import { authorityExtensions, certificatePem, issueCertificate, unitExtensions } from './issue-certificate.js';
import { newSerial, type TimestampHash } from './object-identifiers.js';
import { encodeQuery } from './timestamp-messages.js';

type Terms = {
  /** When the certificate of the unit is valid; that of the root is valid for the whole century. */
  from: Date;
  to: Date;
  /** The key of the unit; an RSA-PSS key signs with RSA-PSS. */
  key?: KeyObject;
  hash?: TimestampHash;
  /** The policy of its stamps. */
  policy?: string;
};

/** An authority whose certificate is valid in a chosen period, and that stamps with any time. */
export type DatedAuthority = {
  /** PEM. */
  root: string;
  stamp: (data: Uint8Array, at: Date) => Uint8Array;
};

const CENTURY = { from: new Date('2001-01-01T00:00:00.000Z'), to: new Date('2100-01-01T00:00:00.000Z') };

/** Creates an authority of that name, with a root of its own. */
export const makeDatedAuthority = (name: string, { hash = 'sha256', policy, ...period }: Terms): DatedAuthority => {
  const root = issueCertificate({
    ...{ subject: `${name} root`, issuer: null, extensions: authorityExtensions(), ...CENTURY },
  });
  const unit = issueCertificate({ subject: `${name} unit`, issuer: root, extensions: unitExtensions(), ...period });
  return {
    root: certificatePem(root.certificate),
    stamp: (data, at) => {
      const query = encodeQuery({ digest: createHash(hash).update(data).digest(), nonce: newSerial() });
      const info = (given: { genTime: Date; policy: string }) => {
        given.genTime = at;
        given.policy = policy ?? given.policy;
      };
      return forgeReply(query, unit, [root], { info });
    },
  };
};
