import type * as contracts from '@vat/contracts';
import type { z } from 'zod';

// Response types, derived from the schemas of the API. The schemas themselves are not part of the bundle.
export type Check = z.output<typeof contracts.checkSchema>;
export type CheckEntry = z.output<typeof contracts.checkEntrySchema>;
export type CheckRequest = z.output<typeof contracts.requestSchema>;
export type Acceptance = z.output<typeof contracts.acceptanceSchema>;
export type Status = z.output<typeof contracts.statusSchema>;
export type MemberStateStatus = Status['member_states'][number];
export type Usage = z.output<typeof contracts.usageSchema>;
export type Webhook = z.output<typeof contracts.webhookSchema>;
export type Delivery = z.output<typeof contracts.deliverySchema>;
export type DeliveryDetail = z.output<typeof contracts.deliveryDetailSchema>;
export type Attempt = z.output<typeof contracts.attemptSchema>;
export type Notifications = ReturnType<typeof contracts.presentNotifications>;
export type ApiKey = ReturnType<typeof contracts.presentKey>;

export type Member = ReturnType<typeof contracts.presentMember>;
export type Invitation = ReturnType<typeof contracts.presentInvitation>;
export type OpenInvitation = ReturnType<typeof contracts.presentOpenInvitation>;

export type Session = ReturnType<typeof contracts.presentSession>;
export type Batch = z.output<typeof contracts.batchSchema>;
export type BatchLine = z.output<typeof contracts.batchLineSchema>;
export type Coverage = z.output<typeof contracts.coverageSchema>;
export type CoverageLine = z.output<typeof contracts.coverageLineSchema>;
export type Watch = z.output<typeof contracts.watchSchema>;
export type Frequency = Watch['frequency'];
/** A change of a watch. On the overview it also names the watch. */
export type Change = z.output<typeof contracts.changeSchema> &
  Partial<Pick<Watch, 'watch_id' | 'vat_number' | 'label'>>;

export type Overview = ReturnType<typeof contracts.presentOverview>;

/** An anchor: the seven hashed keys and its id. */
export type Anchor = z.output<typeof contracts.anchorSchema>;
/** The position of a check in the tree of an anchor, and the path to the root. */
export type InclusionProof = z.output<typeof contracts.anchorProofSchema>;
/** The data of a public link. */
export type PublicVerification = z.output<typeof contracts.publicVerificationSchema>;
export type CheckLink = z.output<typeof contracts.checkLinkSchema>;
