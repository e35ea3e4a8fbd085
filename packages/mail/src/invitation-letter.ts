import { oneLine, type RenderedLetter, renderLetter } from './render-letter.js';

type Invitation = {
  /** Names as their owners wrote them. */
  accountName: string;
  invitedBy: string;
  role: string;
  /** Shown once and secret: whoever has it becomes a member. */
  url: string;
  expiresAt: Date;
};

/** The letter with which somebody is invited to an account. */
export const invitationLetter = ({ accountName, invitedBy, role, url, expiresAt }: Invitation): RenderedLetter => {
  const account = oneLine(accountName, 60);
  return renderLetter({
    subject: `You are invited to ${account}`,
    heading: `You are invited to ${account}`,
    paragraphs: [
      `${oneLine(invitedBy, 254)} invites you to the account ${account} of the VAT Validation Service, as ${role}.`,
      `The link works once, until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    ],
    link: { label: 'Accept the invitation', url },
    footer: [{ text: 'If you do not know the sender, ignore this mail. Nothing happens then.' }],
  });
};
