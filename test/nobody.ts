/** Values that find nobody, and that the nodes refuse, as scraped pages, exports and forms hold them. */

/** The values of a text, with a bar or a line break between them. */
const values = (text: string) => text.trim().split(/ \| |\n\s*/);

export const NO_ADDRESSES = values(`
	logo@2x.png | image001.png@01D9ABCD.12345670 | j***@acme.com | j•••@acme.com
	ada@a***.com | ada@acme.co… | ada@acme.co... | email_not_unlocked@domain.com | locked@acme.com
	email-not-available@acme.com | not available | locked | ada.@acme.com | .ada@acme.com
	a..b@acme.com | {first}.{last}@acme.com | %FIRSTNAME%@acme.com | user@domain.com
	undefined.undefined@acme.com | #REF!@acme.com | ada@www.acme | a@b.com c@d.com | a@b.com; c@d.com
	u003eada@acme.com | u003cada@acme.com | n/a@acme.com | N/A@acme.com | none@acme.com | ada@www.acme.com
	605a7baede844d278b89dc95ae0a9123@o37.ingest.sentry.io | 605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com
	ada@co.uk | ada@com.br | ada@acme.test | ada@acme.invalid | ada@acme.local | jane@example.com | jane@example.org
	info@mysite.com | ada@yourdomain.com | ada@your-company.com | you@company.com | unavailable@acme.com
	%FIRSTNAME%@acme.com | [email]@acme.com | [email protected] | <<Email>> | $email | *|EMAIL|* | ada@acme | ada@acme..com
	ada.okafor | @acme.com | ada@ | ada@-.com@ | ada@1.2.3.4 | ada@@acme.com | a,b@acme.com | ada@acme.com/bob@acme.com
	user@localhost | null@null | a@[1.2.3.4] | a@b..com | a@-b.com | a@b.com, c@d.com | ada at b.com | a@b.com / c@d.com
	Ada a@b.com | hidden@acme.com | locked@acme.com | not.available@acme.com | ada(at)acme.com | ada [at] acme.com | x..y@acme.com
`);

export const NO_PROFILES = values(`
	linkedin.com/company/acme/ | https://www.linkedin.com/school/mit/
	https://www.linkedin.com/feed/update/urn:li:activity:71
	https://www.linkedin.com/posts/ada_x-activity-1
	https://www.linkedin.com/search/results/people/?keywords=ada
	https://www.linkedin.com/jobs/view/1 | https://www.linkedin.com/pub/dir/ada/okafor
	https://www.linkedin.com/sales/search/people?query=x | https://de.linkedin.com
	www.linkedin.com/in/ | https://www.linkedin.com/in/me/
	https://www.linkedin.com/in/undefined/ | https://www.linkedin.com/in/[name]
	https://www.linkedin.com/in/ada-ok...
	https://www.linkedin.com/in/ada https://www.linkedin.com/in/bob
	https://www.linkedin.com/in/ada,https://www.linkedin.com/in/bob
	https://www.google.com/url?q=https://www.linkedin.com/in/ada | https://notlinkedin.com/in/ada
	https://www.xing.com/profile/Ada | https://acme.com | LinkedIn | Ada Okafor
	https://www.linkedin.com/in/unavailable | https://www.linkedin.com/in/none/ | https://www.linkedin.com/in/null
	https://www.linkedin.com/in/NaN | https://www.linkedin.com/in/unknown?x=1 | https://www.linkedin.com/in/n/a
	https://www.linkedin.com/in/username | https://www.linkedin.com/in/your-name | https://www.linkedin.com/in/not-available
	https://www.linkedin.com/in/first-last-name/../.. | https://www.linkedin.com/in/firstname-lastname
	https://lnkd.in/abc | https://www.linkedin.com/in/ada-ok… | ada@linkedin.com
	https://www.linkedin.com/in/{{ $json.id }}
	https://www.linkedin.com/in/ada okafor | https://www.linkedin.com/showcase/acme | https://www.linkedin.com/groups/1 | https://www.linkedin.com/mynetwork/
	https://www.linkedin.com/sales/lists/people/1 | https://www.linkedin.com/talent/search?x=1 | https://www.linkedin.com/ada
	https://www.linkedin.com/talent/hire/1/manage/all | https://www.linkedin.com/recruiter/search | https://linkedin.cn/jobs
	https://linkedin.com.evil.com/in/ada | https://evil.com/linkedin.com/in/ada | https://www.linkedin.com/mwlite/company/a
	https://www.linkedin.com/profile/view?id=1 | https://www.linkedin.com/in/private | https://www.linkedin.com/authwall?x=1
`);

export const NO_DOMAINS = values(`
	Acme | LinkedIn | https://www.acme | logo.png | index.html | acme.co... | acme.co… | a***.com
	{company}.com | undefined.com | locked | not available | www.localhost | acme.com beta.com
	#REF! | (not set) | outlook.co.uk | ada@live.fr | gmx.at | https://www.instagram.com/acme
	https://youtu.be/x | https://acme.wordpress.com | sites.google.com/acme
	https://www.crunchbase.com/organization/acme
	acme.con | acme.comm | co.uk | com.br | co.jp | org.uk | net.au | ac.at | or.at | gv.at | ltd.uk | acme.test | acme.invalid | ada@aim.com
	mail.acme.local | acme.onion | arcor.de | chello.at | hetnet.nl | alice.it | sapo.pt | op.pl | email.cz | freemail.hu
	docomo.ne.jp | hanmail.net | 139.com | optusnet.com.au | xtra.co.nz | blueyonder.co.uk | earthlink.net | juno.com
	acme.square.site | acme.firebaseapp.com | acme.tilda.ws | acme.ghost.io | acme.hs-sites.com | acme.onrender.com
	https://www.yellowpages.com/acme | https://www.pagesjaunes.fr/pros/1 | https://www.dnb.com/business/acme.html
	https://clutch.co/profile/acme | https://www.amazon.de/acme | https://www.booking.com/hotel/x | https://x.com/acme
	https://maps.google.com/?cid=1 | https://docs.google.com/document/1 | https://plus.google.com/1 | https://goo.gl/x
	https://acme.tumblr.com | https://www.google.de/search?q=acme | https://www.google.com/?q=acme | https://github.com/acme
	https://acme.myshopify.com | acme.wordpress.com | live.fr | live.co.uk | outlook.de | gmx.net | yahoo.co.jp | hotmail.it
	Acme Inc | n.a. | acme.com https://other.com | 10.0.0.1 | facebook.com | https://www.linkedin.com/company/acme
	https://www.google.com/url?q=https://acme.com | ada@gmail.com | https://linktr.ee/acme | acme.wixsite.com
	acme.blogspot.de | https://bit.ly/3xyz | acme.com / beta.com | acme.com (beta.com)
	https://www.xing.com/pages/acme | https://acme.slack.com | https://www.indeed.com/cmp/Acme | https://de.linkedin.com/company/a
`);

export const NO_NAMES = values(`
	LinkedIn Member | Utilisateur LinkedIn | LINKEDIN MEMBER | View Ada Okafor's profile
	Ada OkaforView Ada Okafor’s profile | Sm***h | S***** | Ada O... | =A1&" "&B1 | #REF! | #NAME?
	#N/A | Ada #REF! | 2024-05-01 | 2024-05-01T00:00:00.000Z | 01.05.2024 | 5/1/2024 | 123
	{first} | {{firstName}} | locked | Not Available | n/a | (not set) | no name
	https://acme.com/ada | www.acme.com | J\ufffdrg | MÃ¼ller | M?ller | O&#39;Brien | [object Object] | $json.name
	NULL | Smith… | Hidden | Private | Unknown | First Name | [First Name] | $firstName | %FIRSTNAME% | none | na
	ada@acme.com | undefined | NaN | - | N/A
`);

/** Several people, and headers of whole names. */
export const NO_PERSON = values(`
	Ada Okafor; Bob Smith | Okafor, Ada; Smith, Bob | Ada & Bob Smith | Ada Okafor / Mary-Jane O'Neil | Mr. & Mrs. Smith
	Hans und Eva Weber | First Name Last Name | TBC | N. A. | Private Member | Last Name
`);

export const NO_PLACES = values(`
	{city} | =A1 | #REF!, Austria | Aus*** | Graz &amp; Wien | Austin, undefined
`);

export const NO_LISTS = values(`
	["CTO" | ['CTO'] | {"title":"CTO"} | ["undefined"] | [object Object] | N/A | -
`);
