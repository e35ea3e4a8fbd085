/** What one signature scheme found in a delivery's headers, with the digests that would be right. */
export type SignedParts = {
  /** Header that carried the signature, for messages. */
  header: string;
  /** Unix seconds, as signed. */
  timestamp: number;
  /** Id of the event, when it is part of what is signed. */
  id: string | null;
  /** Digests found in the header. */
  received: readonly Uint8Array[];
  /** One right digest a secret. */
  expected: readonly Uint8Array[];
};
