// Connections between ranks that do not use MPI, over this host's sockets.
#include "common/comm/liveness/rank_link.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <string>
#include <utility>

namespace lie {
namespace {

constexpr int kPatience_milliseconds = 10'000;

class Meeting : public testing::Test {
 protected:
  /// Returns a connection to the listener, and its other end.
  std::pair<Descriptor, RankLink> connect() {
    Descriptor socket;
    for (int i = 0; i < point_.address_count && !socket.is_open(); ++i) {
      socket = connect_to_host(point_, i, kPatience_milliseconds, wake_.number());
    }
    wait_for_link(listener_.number(), false, kPatience_milliseconds, wake_.number());
    return {std::move(socket), RankLink(accept_link(listener_), point_.token)};
  }

  /// Reads until a message has arrived or the connection has ended.
  std::optional<RankNews> receive(RankLink& link) {
    for (;;) {
      link.read();
      if (auto news = link.next()) return news;
      if (link.loss() || link.is_foreign()) return std::nullopt;
      if (!wait_for_link(link.descriptor(), false, kPatience_milliseconds, wake_.number())) {
        return std::nullopt;
      }
    }
  }

  MeetingPoint point_ = make_meeting_point();
  Descriptor listener_ = listen_to_hosts(point_);
  Descriptor wake_{::eventfd(0, EFD_CLOEXEC)};
};

using RankLinkMeeting = Meeting;

TEST_F(RankLinkMeeting, NewsArriveWithTextsCutToTheWire) {
  auto [socket, link] = connect();
  RankLink sender(std::move(socket), point_.token);
  sender.send({RankNews::Kind::kRunning, {3, "h1", "actor", std::string(500, 'x')}});
  sender.flush();
  const auto news = receive(link);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, RankNews::Kind::kRunning);
  EXPECT_EQ(news->rank.rank, 3);
  EXPECT_EQ(news->rank.host, "h1");
  EXPECT_EQ(news->rank.role, "actor");
  EXPECT_EQ(news->rank.activity, std::string(119, 'x'));
}

TEST_F(RankLinkMeeting, LastWordsComeBeforeTheLoss) {
  auto [socket, link] = connect();
  {
    RankLink sender(std::move(socket), point_.token);
    sender.send({RankNews::Kind::kEnded, {3}});
    sender.flush();
  }
  const auto news = receive(link);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, RankNews::Kind::kEnded);
  EXPECT_FALSE(receive(link));
  EXPECT_EQ(link.loss(), Loss::kDied);
}

TEST_F(RankLinkMeeting, AStrangerIsNotHeard) {
  auto [socket, link] = connect();
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  ::send(socket.number(), request.data(), request.size(), 0);
  EXPECT_FALSE(receive(link));
  EXPECT_TRUE(link.is_foreign());
}

TEST_F(RankLinkMeeting, ARankOfAnotherJobIsNotHeard) {
  auto [socket, link] = connect();
  RankLink other(std::move(socket), make_meeting_point().token);
  other.send({RankNews::Kind::kRunning, {1}});
  other.flush();
  EXPECT_FALSE(receive(link));
  EXPECT_TRUE(link.is_foreign());
}

TEST_F(RankLinkMeeting, OneRankOfAHostListensToItsNeighbours) {
  EXPECT_FALSE(connect_to_neighbour(point_, "h1").is_open());
  const Descriptor first = listen_to_neighbours(point_, "h1");
  EXPECT_TRUE(first.is_open());
  EXPECT_FALSE(listen_to_neighbours(point_, "h1").is_open());
  EXPECT_TRUE(listen_to_neighbours(point_, "h2").is_open());
  EXPECT_TRUE(connect_to_neighbour(point_, "h1").is_open());
}

}  // namespace
}  // namespace lie
