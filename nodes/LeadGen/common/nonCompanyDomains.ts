/**
 * Domains that are not company domains. A lookup with one of them is paid for and finds nobody.
 * - `facebook.com`: the domain, its subdomains and pages
 * - `linkedin.com/`: its subdomains and pages; the domain itself is that of a company
 * - `*.slack.com`: its subdomains; the domain and its own pages are those of a company
 * - `yahoo.*`: in any country
 */
const LISTS: Record<string, string> = {
	'a free mail provider': `
		gmail.* googlemail.com yahoo.* ymail.com rocketmail.com hotmail.* outlook.com outlook.at outlook.be outlook.bg
		outlook.cl outlook.co.id outlook.co.il outlook.co.nz outlook.co.th outlook.com.ar outlook.com.au outlook.com.br
		outlook.com.gr outlook.com.pe outlook.com.tr outlook.com.vn outlook.cz outlook.de outlook.dk outlook.es
		outlook.fr outlook.hu outlook.ie outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph
		outlook.pt outlook.sa outlook.sg outlook.sk windowslive.com live.com live.co.uk live.fr live.nl live.de live.it
		live.be live.se live.dk live.no live.ca live.cn live.jp live.com.au live.com.mx live.com.pt live.ie live.at
		msn.com passport.com aol.com aol.de aol.co.uk aim.com icloud.com me.com mac.com gmx.net gmx.de gmx.at gmx.ch
		gmx.com gmx.org gmx.eu gmx.info gmx.biz gmx.us gmx.fr gmx.es gmx.it gmx.co.uk gmx.li gmx.ca gmx.cn gmx.co.in
		gmx.com.br gmx.com.tr gmx.hk gmx.ie gmx.ph gmx.pt gmx.ru gmx.se gmx.sg gmx.tm gmx.tw web.de freenet.de
		t-online.de arcor.de online.de mail.de mailbox.org posteo.de proton.me protonmail.com protonmail.ch pm.me
		tutanota.com tutanota.de tuta.io fastmail.com fastmail.fm hey.com mail.com email.com usa.com inbox.com
		hushmail.com zohomail.com yandex.* ya.ru mail.ru bk.ru inbox.ru list.ru rambler.ru ukr.net i.ua meta.ua abv.bg
		seznam.cz centrum.cz wp.pl o2.pl onet.pl op.pl interia.pl gazeta.pl freemail.hu citromail.hu orange.fr
		wanadoo.fr free.fr sfr.fr laposte.net neuf.fr libero.it virgilio.it tiscali.it alice.it tin.it bluewin.ch
		hispeed.ch chello.at aon.at telenet.be skynet.be ziggo.nl kpnmail.nl planet.nl hetnet.nl xs4all.nl home.nl
		btinternet.com ntlworld.com virginmedia.com talktalk.net blueyonder.co.uk eircom.net sapo.pt terra.com.br
		uol.com.br bol.com.br ig.com.br comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net
		earthlink.net juno.com optonline.net shaw.ca sympatico.ca telus.net bigpond.com optusnet.com.au xtra.co.nz
		rediffmail.com qq.com foxmail.com 163.com 126.com yeah.net sina.com sohu.com naver.com hanmail.net daum.net
		nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp walla.co.il walla.com`,
	'a social network': `
		facebook.com fb.com/ m.me ig.me fb.me fb.watch messenger.com instagram.com instagr.am threads.net threads.com
		whatsapp.com wa.me wa.link youtube.com youtu.be twitter.com x.com/ linkedin.com/ xing.com/ tiktok.com/ pinterest.*/
		pin.it snapchat.com reddit.com/ quora.com/ tumblr.com t.me telegram.me vk.com/ ok.ru weibo.com weibo.cn bsky.app
		mastodon.social discord.com/ discord.gg twitch.tv/ vimeo.com/ dailymotion.com/ medium.com/ *.substack.com patreon.com/
		soundcloud.com/ open.spotify.com behance.net/ dribbble.com/ github.com/ gitlab.com/ flickr.com/ meetup.com/
		clubhouse.com/ skype.com viber.com/ line.me lin.ee *.slack.com`,
	'a collection of links': `
		linktr.ee bento.me stan.store link.me milkshake.app instabio.cc tap.link znaplink.com linkin.bio lnk.bio beacons.ai/
		bio.link bio.site allmylinks.com campsite.bio carrd.co taplink.cc taplink.at msha.ke solo.to withkoji.com flow.page
		linkpop.com hoo.be heylink.me about.me/ snipfeed.co tap.bio komi.io calendly.com/ cal.com/ popl.co hihello.me`,
	'a shortened link': `
		bit.ly j.mp wp.me db.tt aka.ms clck.ru short.gy tiny.one bl.ink urlz.fr smarturl.it shorte.st bitly.com/ tinyurl.com
		t.co goo.gl g.co g.page forms.gle lnkd.in ow.ly buff.ly is.gd v.gd cutt.ly rebrand.ly rb.gy shorturl.at t.ly s.id
		adf.ly dlvr.it trib.al tiny.cc soo.gd surl.li qr.ae amzn.to amzn.eu spoti.fi apple.co hubs.ly page.link app.goo.gl
		share.google`,
	'a page of a website builder': `
		wixsite.com wixstudio.com *.wix.com editorx.io *.wordpress.com *.squarespace.com *.weebly.com weeblysite.com
		webflow.io *.webflow.com *.jimdo.com jimdofree.com jimdosite.com *.strikingly.com mystrikingly.com myshopify.com
		godaddysites.com zyrosite.com hostingersite.com mailchimpsites.com myportfolio.com wpengine.com wpcomstaging.com
		negocio.site *.bandcamp.com business.site sites.google.com blogspot.* blogger.com *.ghost.io *.tilda.ws tilda.ws
		site123.me *.webnode.* *.webnode.page *.webador.* yolasite.com wordpress.org/ notion.site notion.so/ canva.site
		my.canva.site framer.website framer.app github.io gitlab.io netlify.app vercel.app pages.dev web.app firebaseapp.com
		herokuapp.com onrender.com glitch.me azurewebsites.net cloudfront.net amazonaws.com hubspotpagebuilder.com
		hs-sites.com *.systeme.io *.kajabi.com mykajabi.com *.teachable.com *.podia.com *.thinkific.com gumroad.com/
		*.beepworld.de homepage-baukasten.de *.one.com ueniweb.com *.e-monsite.com *.over-blog.com *.typepad.com
		*.livejournal.com durable.co unicornplatform.page softr.app typedream.app super.site bubbleapps.io replit.app
		lovable.app square.site *.bigcartel.com *.ecwid.com company.site`,
	'a page of a search engine': `
		google.*/ bing.com duckduckgo.com/ baidu.com/ ecosia.org/ startpage.com/ search.yahoo.com search.brave.com
		googleusercontent.com`,
	'a page of a directory': `
		apps.apple.com itunes.apple.com wikipedia.org crunchbase.com/ zoominfo.com/ apollo.io/ rocketreach.co/ lusha.com/
		glassdoor.*/ indeed.*/ kununu.com/ stepstone.*/ monster.*/ yelp.*/ tripadvisor.*/ trustpilot.com/ g2.com/ capterra.*/
		clutch.co/ producthunt.com/ wellfound.com/ angel.co f6s.com/ dnb.com/ northdata.*/ opencorporates.com/ bloomberg.com/
		etsy.com/ ebay.*/ fiverr.com/ upwork.com/ houzz.*/ eventbrite.*/ yellowpages.*/ gelbeseiten.de/ pagesjaunes.fr/
		web.archive.org archive.org/ dropbox.com/ 1drv.ms *.sharepoint.com`,
};

/** What each domain of the lists is, in words. */
export const NON_COMPANY_DOMAINS: ReadonlyMap<string, string> = new Map(
	Object.entries(LISTS).flatMap(([kind, domains]) =>
		domains
			.trim()
			.split(/\s+/)
			.map((domain) => [domain, kind] as const),
	),
);
