type PublicPage = {
  /** Plain text of a fixed list, as all content of these pages. */
  title: string;
  style: string;
  /** HTML, from the heading on. */
  content: string;
};

/** A page outside the dashboard, as HTML without scripts. */
export const renderPublicPage = ({ title, style, content }: PublicPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · VAT Validation Service</title>
<link rel="icon" href="/app/icon.svg">
<style>${style}</style>
</head>
<body>
<header><img src="/app/icon.svg" alt="" width="28" height="28"><span>VAT Validation Service</span></header>
<main>
${content}
</main>
</body>
</html>
`;
