/** A letter, before it is written as plain text and HTML. All texts are plain. */
export type Letter = {
  subject: string;
  /** What happened, in a sentence. */
  heading: string;
  /** Things of a list, and how many more there are. */
  items?: readonly string[];
  more?: number;
  /** What it means, and what to do. */
  paragraphs: readonly string[];
  link: { label: string; url: string };
  /** Why the reader gets it, with further links. */
  footer: readonly ({ text: string } | { label: string; url: string })[];
};

/** A letter as it is sent. */
export type RenderedLetter = { subject: string; text: string; html: string };

/** A text of somebody else as a part of one line: without control and formatting characters, and cut where it is long. */
export const oneLine = (text: string, max = 80): string => {
  const characters = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim()];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : characters.join('');
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text in HTML, also in an attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const STYLE = {
  body: 'margin:0;background:#f6f7f9;color:#171c26;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif',
  card: 'max-width:560px;margin:24px auto;padding:28px;background:#fff;border:1px solid #e1e5ea;border-radius:12px',
  service: 'margin:0 0 20px;color:#566071;font-size:14px;font-weight:600',
  heading: 'margin:0 0 16px;font-size:20px;line-height:1.3',
  button:
    'display:inline-block;padding:10px 18px;border-radius:8px;background:#3f4fd1;color:#fff;font-weight:600;text-decoration:none',
  footer: 'max-width:560px;margin:0 auto 32px;padding:0 28px;color:#566071;font-size:13px',
} as const;

const moreOf = (more: number): string => `and ${new Intl.NumberFormat('en').format(more)} more`;

const listHtml = (items: readonly string[]): string =>
  items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join('')}</ul>\n`;

const footerHtml = (line: Letter['footer'][number]): string =>
  'text' in line
    ? `<p>${escapeHtml(line.text)}</p>`
    : `<p><a href="${escapeHtml(line.url)}" style="color:#566071">${escapeHtml(line.label)}</a></p>`;

/** Writes a letter as plain text and as HTML without images, scripts or style sheets. */
export const renderLetter = (letter: Letter): RenderedLetter => {
  const { subject, heading, items = [], more = 0, paragraphs, link, footer } = letter;
  const list = more > 0 ? [...items, moreOf(more)] : items;
  const text = [
    heading,
    ...(list.length > 0 ? [list.map((item) => `- ${item}`).join('\n')] : []),
    ...paragraphs,
    `${link.label}: ${link.url}`,
    [
      '-- ',
      'VAT Validation Service',
      ...footer.map((line) => ('text' in line ? line.text : `${line.label}: ${line.url}`)),
    ].join('\n'),
  ].join('\n\n');
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>
<body style="${STYLE.body}">
<div style="${STYLE.card}">
<p style="${STYLE.service}">VAT Validation Service</p>
<h1 style="${STYLE.heading}">${escapeHtml(heading)}</h1>
${listHtml(list)}${paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`).join('\n')}
<p style="margin:24px 0 0"><a href="${escapeHtml(link.url)}" style="${STYLE.button}">${escapeHtml(link.label)}</a></p>
</div>
<div style="${STYLE.footer}">${footer.map(footerHtml).join('\n')}</div>
</body>
</html>
`;
  return { subject, text: `${text}\n`, html };
};
