/**
 * Domains that are not company domains. A lookup with one of them is paid for and finds nobody.
 * - `facebook.com`: the domain, its subdomains and pages
 * - `linkedin.com/`: its subdomains and pages; the domain itself is that of a company
 * - `yahoo.*`: in any country
 */
const LISTS: Record<string, string> = {
	'a free mail provider': `
		gmail.* googlemail.com yahoo.* ymail.com rocketmail.com hotmail.* outlook.* live.* msn.com aol.* icloud.com
		me.com mac.com gmx.* web.de freenet.de t-online.de mail.de mailbox.org posteo.de proton.me protonmail.com pm.me
		tutanota.com fastmail.com hey.com mail.com email.com zoho.com/ zohomail.com yandex.* ya.ru mail.ru bk.ru
		inbox.ru list.ru rambler.ru ukr.net abv.bg seznam.cz wp.pl o2.pl onet.pl interia.pl orange.fr wanadoo.fr free.fr
		sfr.fr laposte.net libero.it virgilio.it tiscali.it bluewin.ch telenet.be skynet.be ziggo.nl btinternet.com
		virginmedia.com terra.com.br uol.com.br bol.com.br comcast.net verizon.net att.net sbcglobal.net bellsouth.net
		cox.net shaw.ca bigpond.com rediffmail.com qq.com foxmail.com 163.com 126.com sina.com naver.com daum.net
		aim.com windowslive.com passport.com duck.com hushmail.com tuta.com tutamail.com tutanota.de keemail.me
		protonmail.ch mailfence.com runbox.com inbox.com usa.com excite.com lycos.com juno.com netzero.net earthlink.net
		mindspring.com optonline.net charter.net rr.com roadrunner.com frontier.com windstream.net embarqmail.com
		centurylink.net ptd.net sympatico.ca videotron.ca telus.net optusnet.com.au iinet.net.au tpg.com.au
		internode.on.net xtra.co.nz blueyonder.co.uk ntlworld.com talktalk.net btopenworld.com tiscali.co.uk eircom.net
		arcor.de online.de kabelmail.de vodafonemail.de email.de web.com/ aon.at chello.at utanet.at inode.at hispeed.ch
		sunrise.ch neuf.fr club-internet.fr numericable.fr bbox.fr aliceadsl.fr cegetel.net voila.fr scarlet.be
		pandora.be proximus.be/ kpnmail.nl planet.nl hetnet.nl home.nl xs4all.nl upcmail.nl chello.nl casema.nl
		quicknet.nl zonnet.nl alice.it tin.it inwind.it iol.it fastwebnet.it email.it iol.pt sapo.pt netcabo.pt clix.pt
		terra.es telefonica.net ono.com ig.com.br globomail.com r7.com zipmail.com.br fibertel.com.ar arnet.com.ar
		speedy.com.ar prodigy.net.mx op.pl vp.pl poczta.fm gazeta.pl tlen.pl interia.eu email.cz post.cz centrum.cz
		volny.cz atlas.cz centrum.sk azet.sk zoznam.sk freemail.hu citromail.hu t-online.hu mail.bg otenet.gr mynet.com
		walla.co.il walla.com netvision.net.il inbox.lv mail.ee hot.ee luukku.com suomi24.fi online.no spray.se
		bredband.net mail.dk jubii.dk i.ua meta.ua bigmir.net internet.ru hanmail.net nate.com vip.qq.com sina.cn
		sohu.com 139.com 189.cn yeah.net aliyun.com tom.com 21cn.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp
		i.softbank.jp nifty.com ocn.ne.jp rediff.com/ telkomsa.net mweb.co.za privaterelay.appleid.com mailinator.com
		yopmail.com guerrillamail.com`,
	'a social network': `
		facebook.com fb.com/ fb.me messenger.com instagram.com threads.net threads.com whatsapp.com wa.me youtube.com
		youtu.be twitter.com x.com/ linkedin.com/ xing.com/ tiktok.com/ pinterest.*/ snapchat.com reddit.com/ t.me
		vk.com/ medium.com/ substack.com/ discord.com/ discord.gg vimeo.com/ github.com/ behance.net/ slack.com/
		tumblr.com/ twitch.tv/ soundcloud.com/ flickr.com/ quora.com/ ok.ru weibo.com/ line.me telegram.me dribbble.com/
		meetup.com/ researchgate.net/ academia.edu/`,
	'a collection of links': `
		linktr.ee linkin.bio bio.link bio.site beacons.ai/ carrd.co about.me/ taplink.cc calendly.com/ lnk.bio
		campsite.bio milkshake.app solo.to bio.fm`,
	'a shortened link': `
		bit.ly bitly.com/ tinyurl.com t.co goo.gl g.co g.page lnkd.in ow.ly buff.ly is.gd cutt.ly rebrand.ly rb.gy t.ly
		shorturl.at rebrandly.com/ youtube.be amzn.to fb.watch`,
	'a page of a website builder': `
		wixsite.com wixstudio.com wix.com/ wordpress.com/ squarespace.com/ weebly.com/ webflow.io webflow.com/
		jimdo.com/ jimdofree.com jimdosite.com strikingly.com/ myshopify.com godaddysites.com business.site
		sites.google.com blogspot.* site123.me webnode.*/ notion.site canva.site framer.website github.io netlify.app
		vercel.app pages.dev web.app herokuapp.com azurewebsites.net cloudfront.net amazonaws.com hubspotpagebuilder.com
		square.site company.site mystrikingly.com ueniweb.com multiscreensite.com webador.* yolasite.com simplesite.com
		tilda.ws e-monsite.com over-blog.com altervista.org tripod.com angelfire.com livejournal.com ghost.io
		beehiiv.com/ bigcartel.com/ mybigcommerce.com ecwid.com/ hs-sites.com mailchi.mp mailchimpsites.com
		wpengine.com/ wpcomstaging.com firebaseapp.com onrender.com fly.dev replit.app lovable.app bubbleapps.io
		softr.app glide.page gitlab.io jouwweb.nl/ forms.gle typeform.com/ sharepoint.com`,
	'a page of a search engine':
		'google.*/ bing.com duckduckgo.com/ baidu.com/ ecosia.org/ yahoo.co.jp/ startpage.com/',
	'a page of a directory': `
		wikipedia.org crunchbase.com/ zoominfo.com/ apollo.io/ rocketreach.co/ glassdoor.*/ indeed.*/ kununu.com/
		yelp.*/ tripadvisor.*/ trustpilot.com/ g2.com/ etsy.com/ ebay.*/ upwork.com/ northdata.*/ gelbeseiten.de/
		yellowpages.*/ pagesjaunes.fr paginegialle.it paginasamarillas.es goudengids.* herold.at/ firmenabc.at/
		moneyhouse.ch/ dasoertliche.de 11880.com/ wlw.de/ meinestadt.de/ europages.*/ kompass.com/ dnb.com/
		opencorporates.com/ bloomberg.com/ pitchbook.com/ owler.com/ craft.co/ wellfound.com/ angel.co/ f6s.com/
		clutch.co/ goodfirms.co/ capterra.*/ getapp.com/ manta.com/ bbb.org/ foursquare.com/ thumbtack.com/ houzz.*/
		booking.com/ airbnb.*/ amazon.*/ fiverr.com/ freelancer.com/ producthunt.com/ stepstone.*/ monster.*/
		ziprecruiter.com/ lusha.com/ hunter.io/ signalhire.com/ contactout.com/ leadiq.com/ seamless.ai/ theorg.com/
		pappers.fr/ societe.com/ einforma.com/ infobel.com/ cylex.* justdial.com/ indiamart.com/ alibaba.com/
		made-in-china.com/ zaubacorp.com`,
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
