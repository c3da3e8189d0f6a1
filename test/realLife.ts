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
	ada@t.co, ada@gmail.com, x.@docomo.ne.jp, a..b@docomo.ne.jp, .x-y@ezweb.ne.jp, na@acme.com, n.a@acme.com,
	nora.none@acme.com, tom.locked@acme.com, hidden.valley@acme.com, unknown@acme.com, private@acme.com,
	deadbeef@acme.com, 0123456789abcdef@acme.com, ada@ingest.com, u003@acme.com, ulla@acme.se, ada@www2.acme.com,
	ada@wwwacme.com, ada@domain.co.uk, ada@mycompany.de, ada@email.com, ada@mail.com, ada@company.de, ada@site.com,
	ada@test.com, ada@tests.org, ada@acme.co, ada@acme.com.co, ada@acme.org.uk, ada@acme.ac.at, ada@live.tv,
	ada@outlook.com, ada@gmx.at, sales@acme.com.br, b.o'hara@acme.ie, ada@acme.dev, ada@acme.app, ada@acme.cloud,
	ada@acme.consulting, ada@acme.co.jp, ada@acme.ne.jp, ada@acme.or.at, ada@acme.gv.at, ada@acme.ltd.uk, a1@b2.c3.de,
	jean-luc@acme.fr, jean.luc_o@acme.fr, ada@acme-group.com, x@y.zz, ada~1@acme.com, ada!@acme.com, #ada@acme.com,
	kim@acme.kr, li@acme.cn, ng@acme.sg, marie.d'arc@acme.fr, ada@i.softbank.jp, ada@me.com, ada@us.ibm.com, q@q.qa
`);

export const DOMAINS = listed(`
	acme.com, x.com, 3m.com, 1und1.de, 123.com, a.co, ac-me.com, x--y.com, my_shop.acme.com,
	google.com, apple.com, microsoft.com, meta.com, fb.com, linkedin.com, github.com, tiktok.com,
	slack.com, wix.com, shopify.com, squarespace.com, wordpress.com, orange.com, telekom.de,
	yahooinc.com, gmxyz.com, livenation.com, outlookindia.com, acme.co.uk, acme.com.br,
	uni-wien.ac.at, shop.acme.co.uk, mail.acme.de, null.com, xn--bcher-kva.example,
	xn--mgba3gch31f060k.com, xn--e1afmkfd.xn--p1ai, acme.museum, acme.photography, acme.ai,
	live.tv, outlook.tv, gmx.io, live.io, live.me, outlook.ai, aol.io, gmail.io, cloud.google.com, careers.google.com,
	about.google, workspace.google.com, developers.google.com, about.gitlab.com, jobs.netflix.com, de.linkedin.com,
	business.linkedin.com, partners.amazon.com, press.airbnb.com, investors.etsy.com, amazon.com, booking.com,
	airbnb.com, ebay.de, etsy.com, fiverr.com, upwork.com, glassdoor.com, indeed.com, trustpilot.com, yelp.com, g2.com,
	crunchbase.com, zoominfo.com, apollo.io, hunter.io, dnb.com, bloomberg.com, kompass.com, capterra.com, clutch.co,
	xing.com, pinterest.com, reddit.com, medium.com, vk.com, discord.com, substack.com, zoho.com, webflow.com,
	hostinger.com, godaddy.com, weebly.com, calendly.com, bitly.com, comcast.com, verizon.com, att.com, cox.com,
	telus.com, rogers.com, sky.com, sunrise.ch, swisscom.ch, a1.net, proximus.be, kpn.com, vodafone.de, o2.de, free-work.com,
	mailchimp.com, mailjet.com, protonlabs.ch, yandex-team.ru, naver-corp.com, tencent.com, sina-weibo.org, hey-day.com,
	com.google, co-op.co.uk, company.de, ac-group.com, org.com, net-a-porter.com, gov.com, ltd.com, plc.ag, me.de,
	acme.gv.at, acme.or.jp, acme.ne.jp, acme.go.th, bbc.co.uk, nhs.net, nhs.uk, parliament.uk, acme.com.au, acme.org.nz,
	acme.net.br, acme.gob.mx, test.de, invalid.org, testing.com, bit.de, t.de, is.de
`);

const MEMBERS = listed(`
	ada, jos%C3%A9-garc%C3%ADa-1, josé-garcía-1, дмитрий, 山田太郎, ada-🚀, jennifer-null, ada#about,
	ada?trk=people-guest_people_search-card, ada/?originalSubdomain=de, ada_okafor,
	ada/detail/recent-activity, ACoAAABcDeF0123456789, 1, ADA, Ada-Okafor, nan-goldin, none-smith, unknown-artist,
	private-jones, profile-ada, meier, mee, director-ada, dir-ada, nameera, na-kim, undefined-games, locked-in,
	hidden-figures, example-ada, ada-okafor-12345678, ada/en, ada/de, ada/overlay/contact-info, %D0%B4%D0%BC, ada%20
`);

export const PROFILES = [
	...MEMBERS.map((member) => `https://www.linkedin.com/in/${member}`),
	...listed(`
		https://de.linkedin.com/in/ada-okafor-1a2b3c4, https://linkedin.com/in/ada/,
		http://www.linkedin.com/in/ada, HTTPS://WWW.LinkedIn.com/in/Ada, https://m.linkedin.com/in/ada,
		https://www.linkedin.com/comm/in/ada?x=1, https://www.linkedin.com/pub/ada-okafor/1/2a3/4b5,
		https://www.linkedin.com/sales/lead/ACwAAA,NAME_SEARCH,x1, https://www.linkedin.com/sales/profile/1,a,NAME,
		https://www.linkedin.com/sales/people/ACwAAA,NAME,x1, https://www.linkedin.com/talent/profile/AE,
		https://www.linkedin.com/mwlite/in/ada, https://www.linkedin.com/IN/ADA, https://www.linkedin.cn/in/ada,
		https://www.linkedin.cn/incareer/in/ada, https://www.linkedin.com/In/Ada, https://touch.www.linkedin.com/in/ada,
		https://www.linkedin.com/talent/search/profile/AEMAA?x=1, https://www.linkedin.com/recruiter/profile/1,a,CAP,
		https://www.linkedin.com/talent/hire/123/manage/all/profile/AEMAA, https://www.linkedin.com/m/in/ada,
		https://uk.linkedin.com/pub/ada, https://www.linkedin.com/public-profile/in/ada, https://www.linkedin.com/de/in/ada
	`),
];
