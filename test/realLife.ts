/** Values as real files hold them, of many countries and scripts. The nodes send each of them unchanged. */

/** The values of a text, with a comma and a space or a line break after each. */
export const listed = (text: string) => text.trim().split(/,\s+/);

export const NAMES = listed(`
	Ada, Nan, Null, Jo, Ng, Bo, O, No, Na, True, Test, X Æ A-12, J. R. R., O'Neil,
	D’Arcy, O´Brien, Smith-Jones, van der Berg, de la Cruz, von und zu Liechtenstein, St. John,
	José, Núñez, Begoña, Gal·la, Ângela, São João, JOÃO, CONCEIÇÃO, ÅSA, Müller, Strauß, Größl,
	François, Zoë, Anaïs, Jürgen, Åse, Jörg, Céline, Lætitia, L’Hôpital, Øystein, Þórunn, Łukasz, Żółć, Dvořák,
	Nguyễn, Trần Thị Ánh, Ștefan, Győző, İbrahim, Kęstutis, Дмитрий, Їжакевич, Γιώργος,
	Ծովինար, გიორგი, שׁלומית, محمد, عبد الله, प्रिया, রহমান, ธนกร, ကျော်, សុខា, ማርታ,
	佐々木, サトシ・タナカ, 王小明, 欧阳, 김민준, 이, Kealiʻi, Jan May
`);

export const ADDRESSES = listed(`
	ada@acme.com, ADA.Okafor@Acme.COM, a@b.co, a.b.c.d@sub.sub.acme.co.uk, ada+news@acme.com,
	ada_okafor@acme.io, o'brien@acme.ie, ada-okafor@ac-me.de, _ada@acme.com, +1555@acme.com,
	1234567890@qq.com, 0@1und1.de, ada=okafor@acme.com, ada/okafor@acme.com, a&b@acme.com,
	info@acme.com, user@acme.com, mail@acme.de, ada@sentry.io, ada@xxxlutz.at, noreply@acme.com,
	jennifer.null@acme.com, Null@acme.com, nan@acme.com, jürgen@acme.de, ada@bücher.example,
	用户@例子.公司, дмитрий@почта.рф, ada@xn--bcher-kva.example, ada@acme.photography, ada@3m.com,
	ada@t.co, ada@gmail.com
`);

export const DOMAINS = listed(`
	acme.com, x.com, 3m.com, 1und1.de, 123.com, a.co, ac-me.com, x--y.com, my_shop.acme.com,
	google.com, apple.com, microsoft.com, meta.com, fb.com, linkedin.com, github.com, tiktok.com,
	slack.com, wix.com, shopify.com, squarespace.com, wordpress.com, orange.com, telekom.de,
	yahooinc.com, gmxyz.com, livenation.com, outlookindia.com, acme.co.uk, acme.com.br,
	uni-wien.ac.at, shop.acme.co.uk, mail.acme.de, null.com, xn--bcher-kva.example,
	xn--mgba3gch31f060k.com, xn--e1afmkfd.xn--p1ai, acme.museum, acme.photography, acme.ai
`);

const MEMBERS = listed(`
	ada, jos%C3%A9-garc%C3%ADa-1, josé-garcía-1, дмитрий, 山田太郎, ada-🚀, jennifer-null, ada#about,
	ada?trk=people-guest_people_search-card, ada/?originalSubdomain=de, ada_okafor,
	ada/detail/recent-activity, ACoAAABcDeF0123456789, 1
`);

export const PROFILES = [
	...MEMBERS.map((member) => `https://www.linkedin.com/in/${member}`),
	...listed(`
		https://de.linkedin.com/in/ada-okafor-1a2b3c4, https://linkedin.com/in/ada/,
		http://www.linkedin.com/in/ada, HTTPS://WWW.LinkedIn.com/in/Ada,
		https://www.linkedin.com/comm/in/ada?x=1, https://www.linkedin.com/pub/ada-okafor/1/2a3/4b5,
		https://www.linkedin.com/sales/lead/ACwAAA,NAME_SEARCH,x1,
		https://www.linkedin.com/sales/people/ACwAAA,NAME,x1, https://www.linkedin.com/talent/profile/AE
	`),
];
